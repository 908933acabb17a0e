// What must hold for any text that is given to the reader of the JSON form. Shared by the
// deterministic fuzz test and the libFuzzer target.
#ifndef TORC_TESTS_FUZZ_CHECKED_JSON_H_
#define TORC_TESTS_FUZZ_CHECKED_JSON_H_

#include <optional>
#include <string>

#include <llvm/ADT/StringRef.h>

#include "schedules/schedule.h"

namespace torc::fuzz {

struct JsonOutcome {
  std::optional<Schedule> schedule;  // what was read
  std::string violation;             // what should hold and does not; empty: all is well
};

/// Reads `text`. A refusal must be a message that a terminal can show: with line, column and caret
/// where the text is no JSON, else one line with the key path. What is accepted must be valid, and
/// be the same when it is written and read again.
JsonOutcome checkJson(llvm::StringRef text);

}  // namespace torc::fuzz

#endif  // TORC_TESTS_FUZZ_CHECKED_JSON_H_
