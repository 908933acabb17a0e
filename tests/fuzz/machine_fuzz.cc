// libFuzzer target: any text as a machine, torc's or another tool's.
#include "tests/fuzz/checked.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return torc::fuzz::checkAsText({data, size}, torc::fuzz::checkMachine);
}
