// What must hold for any bytes that are given to the reader of libraries' indices. Shared by the
// deterministic fuzz test and the libFuzzer target.
#ifndef TORC_TESTS_FUZZ_CHECKED_INDEX_H_
#define TORC_TESTS_FUZZ_CHECKED_INDEX_H_

#include <cstddef>
#include <span>
#include <string>

namespace torc::fuzz {

struct IndexOutcome {
  bool accepted = false;  // by the reader
  std::string refusal;    // the reader's message
  std::string violation;  // what should hold and does not; empty: all is well
};

/// Reads `bytes` as an index. A refusal must be one printable line that names the file. What is
/// accepted must be consistent, be found by the lookups, and give the same bytes when it is
/// written.
IndexOutcome checkIndex(std::span<const std::byte> bytes);

}  // namespace torc::fuzz

#endif  // TORC_TESTS_FUZZ_CHECKED_INDEX_H_
