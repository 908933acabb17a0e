// libFuzzer target: any bytes as a schedule of another system.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/fuzz/checked_import.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string violation =
      torc::fuzz::checkImport({reinterpret_cast<const char*>(data), size}).violation;
  if (violation.empty()) return 0;
  std::fprintf(stderr, "%s\n", violation.c_str());
  std::abort();
}
