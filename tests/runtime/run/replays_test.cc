// Replays on real MPI ranks: schedules of every collective on tori, meshes and mixed shapes, with
// chunks, barriers and one direction, compiled by torc, replayed by torc-run and checked against
// MPI's own collective at five sizes, up to 64 KiB and down to no element.
#include <cstdlib>
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
  std::string collective;  // none: each of allreduce, reduce_scatter and allgather
  std::string name;
  std::string shape;
  int ranks;
  std::string compile_options, run_options;
};

const Replay kReplays[] = {
    {"", "asymmetric", "4x3x2", 24, "", "--type=float"},
    {"", "four_dimensions", "2x2x2x2", 16, "--chunks 4", "--type=int64"},
    {"", "odd", "5x3", 15, "--dependences phase", "--type=double --uneven"},
    {"", "ring", "7", 7, "--directions unidirectional", "--type=int16 --op=max"},
    {"", "mesh", "4x3m", 12, "--chunks 4", "--type=float --in-place"},
    {"", "flat", "2x1x3", 6, "--chunks 4 --dependences phase", "--type=uint8 --uneven --in-place"},
    {"", "cores", "3x2+2", 12, "--order TXY", "--type=int32 --op=bxor"},
    {"", "alone", "1", 1, "", "--type=float"},
    {"", "weighted", "4x2m", 8, "--weights balanced --chunks 8 --in-flight 2",
     "--type=float --uneven"},
    {"", "half_latency", "4x3m", 12, "--directions half-latency --chunks 2",
     "--type=int32 --uneven --in-place"},
    {"", "half_latency_odd", "5x2", 10,
     "--directions half-latency --weights balanced --in-flight 1", "--type=double"},
    {"", "breadth_first", "4x3", 12, "--algorithm bfb", "--type=int32 --uneven --in-place"},
    {"", "cut", "4x3x2", 24, "--dead-link 3,1,0:X --dead-link 0,1,1:Y --chunks 2",
     "--type=int32 --uneven"},
    {"", "segments", "9x2", 18,
     "--weights balanced --directions half-latency --segments 7 --in-flight 3",
     "--type=int32 --uneven --in-place"},
    {"", "in_turn", "6mx2", 12,
     "--weights balanced --segments 5 --in-flight 3 --segment-order phases",
     "--type=int32 --uneven"},
    {"", "synchronous", "4x3", 12, "--chunks 4 --in-flight 1 --sends synchronous",
     "--type=int32 --uneven"},
    {"", "dead_node", "4x4", 15, "--dead-node 1,2 --chunks 2", "--type=int32 --uneven"},
    {"", "detours", "3x3x3", 26, "--dead-node 1,1,1 --algorithm bucket --chunks 2",
     "--type=int32 --uneven"},
    {"", "detours_links", "4x3x2", 24,
     "--dead-link 3,1,0:X --dead-link 0,2,1:X --algorithm bucket --weights balanced --segments 3",
     "--type=float --in-place"},
    {"", "detours_cores", "4x3m+2", 20,
     "--dead-node 1,1 --dead-node 2,0 --algorithm bucket --directions half-latency",
     "--type=int64 --uneven --in-place"},
    {"", "dead_nodes", "3x2+2", 8, "--dead-node 1,1 --dead-node 2,0 --order TXY",
     "--type=float --in-place"},
    {"broadcast", "broadcast_asymmetric", "4x3x2", 24, "--chunks 3", "--type=float --root=5"},
    {"broadcast", "broadcast_one_port", "4x3x2", 24, "--algorithm dimension-tree --chunks 3",
     "--type=float --root=17"},
    {"broadcast", "broadcast_segments", "3x3x3", 27, "--chunks 20", "--type=double --root=13"},
    {"broadcast", "broadcast_staggered", "9x2", 18, "--chunks 7 --in-flight 2",
     "--type=float --root=7"},
    {"reduce", "reduce_staggered", "9x2", 18, "--chunks 7 --in-flight 2",
     "--type=int64 --root=7 --in-place"},
    {"broadcast", "broadcast_mesh", "4x3m", 12, "", "--type=int32 --root=7"},
    {"broadcast", "broadcast_cores", "3x2+2", 12, "--order TXY", "--type=uint8 --root=11"},
    {"reduce", "reduce_asymmetric", "4x3x2", 24, "--chunks 3", "--type=float --root=5"},
    {"reduce", "reduce_one_port", "4x3x2", 24, "--algorithm dimension-tree --chunks 3",
     "--type=float --root=17"},
    {"reduce", "reduce_segments", "3x3x3", 27, "--chunks 20", "--type=int64 --root=13 --in-place"},
    {"reduce", "reduce_mesh", "4x3m", 12, "", "--type=int32 --root=7 --in-place"},
    {"reduce", "reduce_cores", "3x2+2", 12, "--order TXY", "--type=int16 --root=11 --op=max"},
    {"scatter", "scatter_asymmetric", "4x3x2", 24, "--chunks 3", "--type=float --root=5"},
    {"scatter", "scatter_long", "12x2", 24, "--chunks 7", "--type=float --root=5 --uneven"},
    {"gather", "gather_long", "2x12", 24, "--chunks 7", "--type=int32 --root=15 --in-place"},
    {"scatter", "scatter_synchronous", "4x3", 12, "--chunks 3 --sends synchronous",
     "--type=float --root=5"},
    {"allreduce", "swing_allreduce", "6x4", 24, "--algorithm swing", "--type=float"},
    {"reduce_scatter", "swing_odd", "5x3", 15, "--algorithm swing", "--type=int64"},
    {"allgather", "swing_allgather", "8x3", 24, "--algorithm swing --chunks 2",
     "--type=int16 --in-place"},
    {"allreduce", "groups_allreduce", "3x2+2", 12, "--algorithm groups --order TXY",
     "--type=double --in-place"},
    {"reduce_scatter", "groups_reduce_scatter", "12x2", 24, "--algorithm groups",
     "--type=int32 --in-place"},
    {"allgather", "groups_mesh", "4x3m", 12, "--algorithm groups", "--type=uint8"},
    {"allreduce", "leaders_allreduce", "3x2+3", 18, "--algorithm recursive-multiplying --leaders",
     "--type=float"},
    {"allreduce", "leaders_in_place", "2x2+4", 16, "--algorithm groups --leaders --order TXY",
     "--type=int32 --in-place"},
    {"allgather", "leaders_allgather", "4+2", 8, "--algorithm swing --leaders",
     "--type=int16 --in-place"},
    {"reduce_scatter", "leaders_reduce_scatter", "3m+4", 12, "--algorithm bucket --leaders",
     "--type=double --in-place"},
    {"broadcast", "leaders_broadcast", "2+9", 18, "--algorithm binomial --leaders",
     "--type=float --root=14"},
    {"reduce", "leaders_reduce", "3x2+2", 12, "--algorithm dimension-tree --leaders",
     "--type=int64 --root=7"},
    {"scatter", "leaders_scatter", "3x2+3", 18, "--algorithm scatter-trees --leaders",
     "--type=float --root=5"},
    {"gather", "leaders_gather", "4+3", 12, "--algorithm rotated-binomial --leaders",
     "--type=uint8 --root=11"},
    {"scan", "scan_asymmetric", "4x3x2", 24, "", "--type=float"},
    {"scan", "scan_multiplying", "8x3", 24, "--algorithm recursive-multiplying",
     "--type=int32 --in-place"},
    {"scan", "scan_prime", "11x2", 22, "--algorithm recursive-doubling --order YX",
     "--type=int64 --op=max"},
    {"scan", "scan_line", "4x3x2", 24, "--algorithm line-scan --chunks 20",
     "--type=float --in-place"},
    {"scan", "scan_mesh", "5m", 5, "--chunks 3", "--type=double --in-place"},
    {"scan", "scan_cores", "3x2+2", 12, "--order TXY", "--type=uint8 --in-place"},
    {"exscan", "exscan_asymmetric", "4x3x2", 24, "", "--type=float"},
    {"exscan", "exscan_multiplying", "3x8", 24, "--algorithm recursive-multiplying",
     "--type=int32 --in-place"},
    {"exscan", "exscan_prime", "2x11", 22, "--algorithm recursive-doubling --chunks 2",
     "--type=int16"},
    {"exscan", "exscan_line", "3x2+2", 12, "--algorithm line-scan --chunks 5 --order TXY",
     "--type=int32 --in-place"},
    {"exscan", "exscan_alone", "1", 1, "", "--type=float"},
    {"alltoall", "alltoall_synchronous", "4x3", 12,
     "--algorithm rotated-rings --chunks 3 --sends synchronous", "--type=int32"},
    {"scatter", "scatter_uneven", "5x3", 15, "", "--type=int32 --root=7 --uneven --in-place"},
    {"scatter", "scatter_cores", "3x2+2", 12, "--order TXY", "--type=uint8 --root=11 --in-place"},
    {"scatter", "scatter_binomial", "4x3x2", 24, "--algorithm binomial", "--type=float --root=5"},
    {"scatter", "scatter_binomial_rotated", "5x3", 15, "--algorithm rotated-binomial --chunks 2",
     "--type=int32 --root=7 --uneven --in-place"},
    {"scatter", "scatter_binomial_synchronous", "8", 8,
     "--algorithm rotated-binomial --sends synchronous", "--type=double --root=3"},
    {"scatter", "scatter_mesh", "4x3m", 12, "--algorithm rotated-flat-blocks --chunks 2",
     "--type=int32 --root=7 --uneven --in-place"},
    {"scatter", "scatter_mesh_cores", "3m+2", 6, "--algorithm flat-blocks --order TX",
     "--type=float --root=4"},
    {"gather", "gather_mesh", "5mx3m", 15, "--algorithm rotated-flat-blocks",
     "--type=int16 --root=7 --uneven"},
    {"gather", "gather_mesh_synchronous", "4mx2", 8, "--algorithm flat-blocks --sends synchronous",
     "--type=double --root=3 --in-place"},
    {"gather", "gather_binomial", "3x2+2", 12, "--algorithm binomial --order TXY",
     "--type=uint8 --root=11 --in-place"},
    {"gather", "gather_binomial_rotated", "5x3", 15, "--algorithm rotated-binomial",
     "--type=int16 --root=7 --uneven"},
    {"gather", "gather_asymmetric", "4x3x2", 24, "--chunks 3", "--type=float --root=5"},
    {"gather", "gather_uneven", "5x3", 15, "", "--type=int32 --root=7 --uneven --in-place"},
    {"gather", "gather_cores", "3x2+2", 12, "--order TXY", "--type=uint8 --root=11 --in-place"},
    {"alltoall", "alltoall_asymmetric", "4x3x2", 24, "", "--type=float --uneven"},
    {"alltoall", "alltoall_pairwise", "3x2", 6, "--algorithm direct --peers fixed --window 1",
     "--type=int32"},
    {"alltoall", "alltoall_window", "4x2m", 8, "--algorithm two-phase --window 2 --chunks 2",
     "--type=float"},
    {"alltoall", "alltoall_odd", "5x3", 15, "", "--type=double"},
    {"alltoall", "alltoall_mesh", "4x3m", 12, "--algorithm rings --chunks 2",
     "--type=int16 --uneven"},
    {"alltoall", "alltoall_uneven", "4x3", 12, "--algorithm direct", "--type=int32 --uneven"},
    {"alltoall", "alltoall_cores", "3x2+2", 12, "--order TXY", "--type=int32"},
    {"alltoall", "alltoall_alone", "1", 1, "", "--type=float"},
    {"alltoall", "alltoall_dead_node", "4x4", 15, "--dead-node 1,2 --chunks 2",
     "--type=int32 --uneven"},
    {"alltoall", "alltoall_stand_ins", "3x3x3", 26,
     "--dead-node 1,1,1 --algorithm rotated-rings --chunks 2", "--type=int32 --uneven"},
    {"alltoall", "alltoall_dead_links", "3x2+2", 12,
     "--dead-link 1,0:X --dead-link 2,1:X --order TXY", "--type=float"},
    {"alltoall", "alltoall_rings", "4x3x2", 24, "--algorithm rotated-rings", "--type=float"},
    {"alltoall", "alltoall_ring_segments", "5x3m", 15, "--algorithm rotated-rings --chunks 7",
     "--type=double --uneven"},
    {"alltoall", "alltoall_one_ring", "7", 7, "--algorithm rings --chunks 2", "--type=int16"},
    {"alltoall", "alltoall_two_phase", "4x3x2", 24, "--algorithm two-phase --chunks 5",
     "--type=int32 --uneven"},
    {"alltoall", "alltoall_two_phase_rotated", "3x4m", 12, "--algorithm rotated-two-phase",
     "--type=uint8"},
    {"alltoall", "alltoall_virtual_mesh", "3x2+2", 12, "--algorithm virtual-mesh --order TXY",
     "--type=int32"},
    {"alltoall", "alltoall_bruck", "5x3", 15, "--algorithm bruck", "--type=double --uneven"},
    {"alltoall", "alltoall_aggregated", "3x2+2", 12, "--algorithm aggregated", "--type=int64"},
    {"alltoall", "alltoall_leader", "3x2+2", 12, "--algorithm leader --order TXY --chunks 2",
     "--type=int16 --uneven"},
    {"neighbor_allgather", "neighbor_allgather_grid", "4x3x2", 24, "", "--type=float"},
    {"neighbor_allgather", "neighbor_allgather_lines", "4mx3", 12, "--order YX",
     "--type=int32 --uneven"},
    {"neighbor_alltoall", "neighbor_alltoall_grid", "3x4x2m", 24, "--order ZXY", "--type=int64"},
    {"neighbor_alltoall", "neighbor_alltoall_lines", "3mx1mx4", 12, "", "--type=double --uneven"},
    {"neighbor_alltoall", "neighbor_alltoall_alone", "1m", 1, "", "--type=float"},
    {"alltoall", "alltoall_distributed", "3x2+2", 12, "--algorithm distributed --chunks 3",
     "--type=float"},
};

int replay(const std::string& schedule, const std::string& options) {
  std::istringstream text("torc-run " + schedule +
                          " --bytes=0,8,100,3001,64K --check --iterations=1 --warmup=1 " + options);
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
    const std::string path =
        testing::TempDir() + "/" + replay_.collective + "_" + replay_.name + ".torc";
    // Without an option of the form a schedule would be chosen.
    const bool has_chunks = replay_.compile_options.find("--chunks") != std::string::npos;
    int status = 0;
    if (worldRank() == 0) {
      status = std::system(("compiler/torc compile " + replay_.collective + " --torus " +
                            replay_.shape + " " + replay_.compile_options +
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
  for (const Replay& row : kReplays) {
    for (const std::string collective : {"allreduce", "reduce_scatter", "allgather"}) {
      if (!row.collective.empty() && collective != "allreduce") continue;
      Replay replay = row;
      if (row.collective.empty()) {
        replay.collective = collective;
        replay.name = collective + "_" + row.name;
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
