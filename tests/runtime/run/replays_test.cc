// Replays on real MPI ranks: schedules of every collective on tori, meshes and mixed shapes, with
// chunks, barriers and one direction (replays.txt), compiled by torc, replayed by torc-run and
// checked against MPI's own collective at four sizes, up to 64 KiB and down to no element.
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "runtime/run/torc_run.h"
#include "tests/mpi/world.h"

namespace torc::runtime {
namespace {

struct Replay {
  int ranks = 0;
  std::string name, collective, compile_options, run_options;
};

/// The rows of replays.txt.
std::vector<Replay> replays() {
  std::vector<Replay> all;
  std::ifstream file("tests/runtime/run/replays.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream row(line);
    Replay replay;
    if (row >> replay.ranks >> replay.name >> replay.collective) {
      std::getline(row, replay.compile_options, '|');
      std::getline(row, replay.run_options);
      all.push_back(replay);
    }
  }
  if (all.empty()) std::abort();
  return all;
}

int replay(const std::string& schedule, const std::string& options) {
  std::istringstream text("torc-run " + schedule +
                          " --bytes=0,8,3001,64K --check --iterations=1 --warmup=1 " + options);
  std::vector<std::string> words;
  for (std::string word; text >> word;)
    words.push_back(word);
  std::vector<char*> arguments;
  for (std::string& word : words)
    arguments.push_back(word.data());
  return runTorcRun(static_cast<int>(arguments.size()), arguments.data());
}

class ReplayTest : public testing::Test {
 public:
  explicit ReplayTest(const Replay& replay) : replay_(replay) {}

  void TestBody() override {
    const std::string path = testing::TempDir() + "/" + replay_.name + ".torc";
    // Without an option of the form a schedule would be chosen.
    const bool has_chunks = replay_.compile_options.find("--chunks") != std::string::npos;
    int status = 0;
    if (worldRank() == 0) {
      status =
          std::system(("compiler/torc compile " + replay_.collective + replay_.compile_options +
                       (has_chunks ? "" : " --chunks 1") + " --quiet -o " + path)
                          .c_str());
    }
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    ASSERT_EQ(status, 0);
    EXPECT_EQ(replay(path, replay_.run_options), 0);
  }

 private:
  const Replay replay_;
};

/// Ranks24.allreduce_asymmetric, ...: BUILD starts so many ranks for each of these groups.
const bool registered = [] {
  for (const Replay& row : replays()) {
    for (const std::string collective : {"allreduce", "reduce_scatter", "allgather"}) {
      Replay replay = row;
      if (row.collective == "each") {
        replay.collective = collective;
        replay.name = collective + "_" + row.name;
      } else if (collective != "allreduce") {
        continue;
      }
      testing::RegisterTest(("Ranks" + std::to_string(row.ranks)).c_str(), replay.name.c_str(),
                            nullptr, nullptr, __FILE__, __LINE__,
                            [replay]() -> testing::Test* { return new ReplayTest(replay); });
    }
  }
  return true;
}();

}  // namespace
}  // namespace torc::runtime
