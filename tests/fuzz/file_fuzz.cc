// libFuzzer target: any bytes, unchanged and with a matching size and checksum, through the reader
// of schedule files and its users.
#include "tests/fuzz/checked.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return torc::fuzz::checkAsFile({data, size}, torc::fuzz::checkFile);
}
