// Writes the seeds of libFuzzer targets, the sample schedules as files, the sample programs as
// text, the sample schedules as JSON and the sample indices, in this order: write_samples PATH...
#include <cstdio>
#include <utility>
#include <vector>

#include "ir/json/json.h"
#include "schedules/format/file.h"
#include "schedules/library/index.h"
#include "schedules/schedule.h"
#include "tests/fuzz/checked.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/sample_programs.h"
#include "tests/schedules/library/sample_index.h"
#include "tests/schedules/sample_schedule.h"

int main(int argc, char** argv) {
  std::vector<torc::fuzz::Bytes> seeds;
  std::vector<torc::Schedule> schedules = torc::samples::all();
  for (torc::Schedule& schedule : torc::fuzz::loopedSchedules())
    schedules.push_back(std::move(schedule));
  for (const torc::Schedule& schedule : schedules)
    seeds.push_back(torc::writeSchedule(schedule.view()));
  for (const torc::ir::Program& program : torc::fuzz::samplePrograms())
    seeds.push_back(torc::fuzz::toBytes(torc::fuzz::printed(program)));
  for (const torc::Schedule& schedule : schedules)
    seeds.push_back(torc::fuzz::toBytes(torc::ir::writeJson(schedule.view())));
  for (const torc::LibraryIndex& index :
       {torc::samples::libraryIndex(), torc::samples::damagedIndex(), torc::samples::tunedIndex(),
        torc::samples::smallIndex()}) {
    seeds.push_back(torc::writeLibraryIndex(index));
  }
  if (static_cast<std::size_t>(argc - 1) != seeds.size()) {
    std::fprintf(stderr, "write_samples: error: needs %zu paths\n", seeds.size());
    return 2;
  }
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    const torc::Status status = torc::writeFileAtomically(argv[i + 1], seeds[i]);
    if (status.ok()) continue;
    std::fprintf(stderr, "write_samples: error: %s\n", status.message().c_str());
    return 1;
  }
  return 0;
}
