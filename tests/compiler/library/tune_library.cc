// tune_library DIR [stray]: makes the library DIR a tuned one, as if all files for allreduce and
// for alltoall on its first shape and MPI's own had been measured. The numbers are artificial, the
// same every time. stray: the first tuned range and a further candidate have files for something
// else.
#include <cstdio>
#include <set>
#include <string>

#include "schedules/format/file.h"
#include "schedules/library/index.h"

namespace torc::compiler {
namespace {

constexpr std::uint32_t kShape = 0;

/// File n takes n + 2 microseconds and half a nanosecond a byte more, MPI's own 4 and a quarter.
void measure(LibraryIndex& index, Collective collective) {
  std::set<std::uint32_t> files = {kMpisOwn};
  for (const LibraryEntry& entry : index.entries) {
    if (entry.shape == kShape && entry.collective == collective) files.insert(entry.file);
  }
  for (const LibraryCandidate& candidate : index.candidates) {
    if (candidate.shape == kShape && candidate.collective == collective) {
      files.insert(candidate.file);
    }
  }
  for (const std::uint64_t bytes : {64, 65536}) {
    double start = 2e-6;
    for (const std::uint32_t file : files) {
      const double size = static_cast<double>(bytes);
      const double seconds = file == kMpisOwn ? 4e-6 + 0.25e-9 * size : start + 0.5e-9 * size;
      index.measurements.push_back({kShape, collective, bytes, file, seconds});
      start += 1e-6;
    }
  }
  index.tuned.push_back({kShape, collective, 64, 8191, *files.begin(), 8191, 2.032e-6, 6.0955e-6,
                         "1.98 times as fast as MPI's own at 64"});
  index.tuned.push_back({kShape, collective, 8192, kOpenEnd, kMpisOwn, 65536, 6.048e-6, 20.384e-6,
                         "no schedule is faster"});
}

void goAstray(LibraryIndex& index) {
  const auto files = static_cast<std::uint32_t>(index.files.size());
  index.tuned.front().file = files - 1;  // the last ones by name are for scatter
  index.candidates.push_back({index.candidates.back().shape, Collective::kExscan, files - 2});
}

int run(const std::string& path, bool stray) {
  StatusOr<std::vector<std::byte>> bytes = readFile(indexPath(path));
  if (!bytes.ok()) return 1;
  StatusOr<LibraryIndex> index = readLibraryIndex(*bytes, indexPath(path));
  if (!index.ok()) return 1;
  index->tuned_on = "a job of 3 ranks";
  measure(*index, Collective::kAllreduce);
  measure(*index, Collective::kAlltoall);
  if (stray) goAstray(*index);
  if (const Status status = validate(*index); !status.ok()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return 1;
  }
  return writeFileAtomically(indexPath(path), writeLibraryIndex(*index)).ok() ? 0 : 1;
}

}  // namespace
}  // namespace torc::compiler

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  return torc::compiler::run(argv[1], argc > 2 && std::string(argv[2]) == "stray");
}
