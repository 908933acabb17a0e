// libFuzzer target: any bytes, as they are and with a size and checksum that fit, through the
// reader of libraries' indices and the lookups in what it accepts.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/checked_index.h"
#include "tests/fuzz/mutate.h"
#include "tests/schedules/format/file_patch.h"

namespace {

void check(const torc::fuzz::Bytes& file) {
  const torc::fuzz::IndexOutcome outcome = torc::fuzz::checkIndex(file);
  if (outcome.violation.empty()) return;
  std::fprintf(stderr, "%s\n", outcome.violation.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  torc::fuzz::Bytes file(bytes.begin(), bytes.end());
  check(file);
  torc::samples::fixSizeAndChecksum(file);
  check(file);
  return 0;
}
