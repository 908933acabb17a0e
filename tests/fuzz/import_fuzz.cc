// libFuzzer target: any bytes as a schedule of another system.
#include "tests/fuzz/checked_import.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* text = reinterpret_cast<const char*>(data);
  torc::fuzz::expectNone(torc::fuzz::checkImport({text, size}).violation);
  return 0;
}
