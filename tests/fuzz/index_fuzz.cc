// libFuzzer target: any bytes, unchanged and with a matching size and checksum, through the reader
// of libraries' indices and the lookups in accepted ones.
#include "tests/fuzz/checked.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return torc::fuzz::checkAsFile({data, size}, torc::fuzz::checkIndex);
}
