// What must hold for any bytes that are given to a reader, and for what comes of them. Shared by
// the deterministic fuzz tests and the libFuzzer targets.
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
  bool accepted = false;               // by the reader; what is imported: by the verifier, too
  bool proved = false;                 // a schedule that is small enough, by the verifier
  std::optional<ir::Program> program;  // what a text or a JSON form says
  std::string refusal;                 // the reader's message
  std::string violation;               // what should hold and does not; empty: all is well
};

/// Reads `bytes` as a schedule file. A refusal must be one printable line that names the file. What
/// is accepted must
///   - give the same bytes when it is written, also by way of JSON,
///   - be the same, in canonical order, by way of text,
///   - expand for several ranks and counts, with every extent inside its buffer,
///   - have no fault of bounds for the verifier,
///   - compute the right result if the verifier accepts it.
Outcome checkFile(std::span<const std::byte> bytes);

/// Reads `bytes` as an index of a library. A refusal must be one printable line that names the
/// file. What is accepted must be consistent, be found by the lookups, and give the same bytes when
/// it is written.
Outcome checkIndex(std::span<const std::byte> bytes);

/// Parses `text`, or reads a schedule's JSON form. A refusal must be a message that a terminal can
/// show, with line, column and caret, or of JSON with the key path. What is accepted must be valid,
/// and be the same when it is printed and read again; its steps, if `as_file`, are a schedule file
/// for which all holds.
Outcome checkText(llvm::StringRef text, bool as_file);
Outcome checkJson(llvm::StringRef text, bool as_file);

/// Imports a program of any format, if it has few ranks, on a ring: it is refused in one line that
/// a terminal can show, or what comes of it passes validation and, if the verifier proves it, the
/// proof for one count.
Outcome checkImport(llvm::StringRef text);

/// Reads `text` as a machine, torc's or another tool's. A refusal must be one line that names the
/// file; of JSON's syntax the line and a caret follow. What is accepted must read back as the same,
/// have a sound topology, and bounds that are finite numbers.
Outcome checkMachine(llvm::StringRef text);

std::string printed(const ir::Program& program);

}  // namespace torc::fuzz

#endif  // TORC_TESTS_FUZZ_CHECKED_H_
