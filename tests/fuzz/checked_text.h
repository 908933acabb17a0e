// What must hold for any text that is given to the parser. Shared by the deterministic fuzz test
// and the libFuzzer target.
#ifndef TORC_TESTS_FUZZ_CHECKED_TEXT_H_
#define TORC_TESTS_FUZZ_CHECKED_TEXT_H_

#include <optional>
#include <string>

#include <llvm/ADT/StringRef.h>

#include "ir/program.h"

namespace torc::fuzz {

struct TextOutcome {
  std::optional<ir::Program> program;  // what was parsed
  std::string violation;               // what should hold and does not; empty: all is well
};

/// Parses `text`. A refusal must be a message that a terminal can show, with line, column and
/// caret. What is accepted must be valid, and be the same when it is printed and parsed again.
TextOutcome checkProgramText(llvm::StringRef text);

std::string printed(const ir::Program& program);

}  // namespace torc::fuzz

#endif  // TORC_TESTS_FUZZ_CHECKED_TEXT_H_
