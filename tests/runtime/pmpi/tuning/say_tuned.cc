// say_tuned LIBRARY COPY COLLECTIVE SHAPE [mpi]: makes a copy of a library that claims, as if
// tuned, that the schedule with the most operations of a collective serves all sizes, or MPI's own.
// Prints its file, and another one of the library for them.
#include <cstdio>
#include <string>
#include <utility>

#include "runtime/job/contenders.h"
#include "runtime/run/tuned_copy.h"
#include "schedules/collective.h"
#include "schedules/format/file.h"

namespace torc::runtime {
namespace {

Status sayTuned(const std::string& library, const std::string& copy, Collective collective,
                const std::string& name, bool is_mpis) {
  const StatusOr<std::vector<std::byte>> bytes = readFile(indexPath(library));
  if (!bytes.ok()) return bytes.status();
  StatusOr<LibraryIndex> index = readLibraryIndex(*bytes, library);
  if (!index.ok()) return index.status();
  std::uint32_t shape = 0;
  while (index->shapes[shape].topology.shape() != name)
    ++shape;
  std::size_t most = 0;
  std::uint32_t slowest = 0, other = 0;
  for (const std::uint32_t file : contenders(*index, shape, collective, 1)) {
    const std::string path = libraryFilePath(library, index->files[file].name);
    const StatusOr<std::vector<std::byte>> content = readFile(path);
    if (!content.ok()) return content.status();
    const StatusOr<LoadedSchedule> schedule = readSchedule(*content, path);
    if (!schedule.ok()) return schedule.status();
    if (schedule->view().operations.size() > most) {
      most = schedule->view().operations.size();
      other = std::exchange(slowest, file);
    }
  }
  const std::uint32_t chosen = is_mpis ? kMpisOwn : slowest;
  index->tuned.push_back({shape, collective, 1, kOpenEnd, chosen, 1, 1e-6, 1e-6, "a test says so"});
  std::printf("%s %s\n", index->files[slowest].name.c_str(), index->files[other].name.c_str());
  StatusOr<TunedCopy> made = TunedCopy::create(copy);
  return made.ok() ? made->publish(library, *index) : made.status();
}

}  // namespace
}  // namespace torc::runtime

int main(int argc, char** argv) {
  const auto status =
      torc::runtime::sayTuned(argv[1], argv[2], *torc::collectiveNamed(argv[3]), argv[4], argc > 5);
  if (!status.ok()) std::fprintf(stderr, "say_tuned: %s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
