// libFuzzer target: any text as a machine in torc's or a foreign format.
#include "tests/fuzz/checked.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return torc::fuzz::checkAsText({data, size}, torc::fuzz::checkMachine);
}
