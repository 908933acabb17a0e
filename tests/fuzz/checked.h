// Properties of readers on arbitrary bytes, and of the results. Shared by the deterministic fuzz
// tests and the libFuzzer targets.
#ifndef TORC_TESTS_FUZZ_CHECKED_H_
#define TORC_TESTS_FUZZ_CHECKED_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include <llvm/ADT/StringRef.h>

#include "ir/program.h"

namespace torc::fuzz {

struct Outcome {
  bool accepted = false;               // by the reader; imported programs: by the verifier, too
  bool proved = false;                 // a schedule that is small enough, by the verifier
  std::optional<ir::Program> program;  // the content of a text or a JSON form
  std::string refusal;                 // the reader's message
  std::string violation;               // a violated property; empty: none
};

/// Reads `bytes` as a schedule file. A refusal must be one printable line that names the file. An
/// accepted file must
///   - give the same bytes when it is written, also by way of JSON,
///   - be the same, in canonical order, by way of text,
///   - expand for several ranks and counts, with every extent inside its buffer,
///   - have no fault of bounds for the verifier,
///   - compute the right result if the verifier accepts it.
Outcome checkFile(std::span<const std::byte> bytes);

/// Reads `bytes` as an index of a library. A refusal must be one printable line that names the
/// file. An accepted index must be consistent, be found by the lookups, and give the same bytes
/// when it is written.
Outcome checkIndex(std::span<const std::byte> bytes);

/// Parses `text`, or reads a schedule's JSON form. A refusal must be a printable message, with
/// line, column and caret, or for JSON with the key path. An accepted program must be valid, and be
/// the same when it is printed and read again; if `as_file`, its steps are a schedule file with all
/// properties above.
Outcome checkText(llvm::StringRef text, bool as_file);
Outcome checkJson(llvm::StringRef text, bool as_file);

/// Imports a program of any format, if it has few ranks, on a ring: it is refused in one printable
/// line, or the result passes validation and, if the verifier proves it, the proof for one count.
Outcome checkImport(llvm::StringRef text);

/// Reads `text` as a machine in torc's or a foreign format. A refusal must be one line that names
/// the file; for JSON's syntax the line and a caret follow. An accepted machine must read back as
/// the same, have a sound topology, and bounds that are finite numbers.
Outcome checkMachine(llvm::StringRef text);

std::string printed(const ir::Program& program);

}  // namespace torc::fuzz

#endif  // TORC_TESTS_FUZZ_CHECKED_H_
