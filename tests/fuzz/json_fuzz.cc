// libFuzzer target: any bytes as the JSON form of a schedule.
#include "tests/fuzz/checked.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return torc::fuzz::checkAsText({data, size}, torc::fuzz::checkJson, true);
}
