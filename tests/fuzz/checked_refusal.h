// What the libFuzzer targets of descriptions demand of a refusal.
#ifndef TORC_TESTS_FUZZ_CHECKED_REFUSAL_H_
#define TORC_TESTS_FUZZ_CHECKED_REFUSAL_H_

#include <cstdlib>
#include <string>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

namespace torc::fuzz {

/// Aborts unless the refusal of m.json names the file, and has a second line only of a fault of
/// syntax.
inline void checkRefusal(llvm::Error error) {
  const std::string message = toString(std::move(error));
  if (!llvm::StringRef(message).starts_with("m.json:")) std::abort();
  if (llvm::StringRef(message).count('\n') > 2) std::abort();
}

}  // namespace torc::fuzz

#endif  // TORC_TESTS_FUZZ_CHECKED_REFUSAL_H_
