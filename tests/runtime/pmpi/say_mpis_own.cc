// say_mpis_own LIBRARY COPY COLLECTIVE: a copy of a library, tuned as if MPI's own collective had
// been the fastest, whatever the size.
#include <cstdio>
#include <string>

#include "runtime/run/tuned_copy.h"
#include "schedules/collective.h"
#include "schedules/format/file.h"

namespace torc::runtime {
namespace {

Status sayMpisOwn(const std::string& library, const std::string& copy, Collective collective) {
  const StatusOr<std::vector<std::byte>> bytes = readFile(indexPath(library));
  if (!bytes.ok()) return bytes.status();
  StatusOr<LibraryIndex> index = readLibraryIndex(*bytes, library);
  if (!index.ok()) return index.status();
  for (std::uint32_t shape = 0; shape < index->shapes.size(); ++shape) {
    index->tuned.push_back({.shape = shape,
                            .collective = collective,
                            .lowest = 1,
                            .highest = kOpenEnd,
                            .file = kMpisOwn,
                            .predicted_to = 1,
                            .lowest_s = 1e-6,
                            .highest_s = 1e-6,
                            .reason = "a test says so"});
  }
  StatusOr<TunedCopy> made = TunedCopy::create(copy);
  return made.ok() ? made->publish(library, *index) : made.status();
}

}  // namespace
}  // namespace torc::runtime

int main(int, char** argv) {
  const auto status = torc::runtime::sayMpisOwn(argv[1], argv[2], *torc::collectiveNamed(argv[3]));
  if (!status.ok()) std::fprintf(stderr, "say_mpis_own: %s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
