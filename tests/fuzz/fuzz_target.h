// Shared by libFuzzer targets.
#ifndef TORC_TESTS_FUZZ_FUZZ_TARGET_H_
#define TORC_TESTS_FUZZ_FUZZ_TARGET_H_

#include <cstdio>
#include <cstdlib>
#include <string>

#include <llvm/ADT/StringRef.h>

#include "tests/fuzz/mutate.h"
#include "tests/schedules/format/file_patch.h"

namespace torc::fuzz {

/// Aborts if there is a violation.
inline void expectNone(const std::string& violation) {
  if (violation.empty()) return;
  std::fprintf(stderr, "%s\n", violation.c_str());
  std::abort();
}

/// Checks a file of these bytes, unchanged and with a matching size and checksum.
template <typename Check>
int checkAsFile(std::span<const std::uint8_t> data, Check check) {
  const auto bytes = std::as_bytes(data);
  Bytes file(bytes.begin(), bytes.end());
  expectNone(check(file).violation);
  samples::fixSizeAndChecksum(file);
  expectNone(check(file).violation);
  return 0;
}

/// Checks a text.
template <typename Check, typename... Options>
int checkAsText(std::span<const std::uint8_t> data, Check check, Options... options) {
  const llvm::StringRef text(reinterpret_cast<const char*>(data.data()), data.size());
  expectNone(check(text, options...).violation);
  return 0;
}

}  // namespace torc::fuzz

#endif  // TORC_TESTS_FUZZ_FUZZ_TARGET_H_
