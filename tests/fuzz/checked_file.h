// What must hold for any bytes that are given to the reader of schedule files. Shared by the
// deterministic fuzz test and the libFuzzer target.
#ifndef TORC_TESTS_FUZZ_CHECKED_FILE_H_
#define TORC_TESTS_FUZZ_CHECKED_FILE_H_

#include <cstddef>
#include <span>
#include <string>

namespace torc::fuzz {

struct FileOutcome {
  bool accepted = false;  // by the reader
  bool expanded = false;  // accepted, and small enough to be expanded here
  bool proved = false;    // expanded, and accepted by the verifier
  std::string refusal;    // the reader's message
  std::string violation;  // what should hold and does not; empty: all is well
};

/// Reads `bytes` as a schedule file. A refusal must be one printable line that names the file. What
/// is accepted must
///   - give the same bytes when it is written, also by way of JSON,
///   - be the same, in canonical order, by way of text,
///   - expand for several ranks and counts, with every extent inside its buffer,
///   - have no fault of bounds for the verifier,
///   - compute the right result if the verifier accepts it.
FileOutcome checkFile(std::span<const std::byte> bytes);

}  // namespace torc::fuzz

#endif  // TORC_TESTS_FUZZ_CHECKED_FILE_H_
