// Writes the sample schedules as files, the seeds of the libFuzzer target: write_samples PATH...
#include <cstdio>
#include <vector>

#include "schedules/format/file.h"
#include "tests/schedules/sample_schedule.h"

int main(int argc, char** argv) {
  const std::vector<torc::Schedule> schedules = torc::samples::all();
  if (static_cast<std::size_t>(argc - 1) != schedules.size()) {
    std::fprintf(stderr, "write_samples: error: needs %zu paths\n", schedules.size());
    return 2;
  }
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    const torc::Status status =
        torc::writeFileAtomically(argv[i + 1], torc::writeSchedule(schedules[i].view()));
    if (status.ok()) continue;
    std::fprintf(stderr, "write_samples: error: %s\n", status.message().c_str());
    return 1;
  }
  return 0;
}
