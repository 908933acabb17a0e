// libFuzzer target: any bytes, as they are and with a size and checksum that fit, through the
// reader of schedule files and what follows it.
#include "tests/fuzz/checked.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return torc::fuzz::checkAsFile({data, size}, torc::fuzz::checkFile);
}
