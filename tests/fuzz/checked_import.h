// What must hold for any bytes that are imported.
#ifndef TORC_TESTS_FUZZ_CHECKED_IMPORT_H_
#define TORC_TESTS_FUZZ_CHECKED_IMPORT_H_

#include <string>

#include <llvm/ADT/StringRef.h>

namespace torc::fuzz {

struct ImportOutcome {
  std::string violation;     // what must not be; empty: all holds
  bool is_accepted = false;  // the schedule is proved
};

/// Imports a program of any format, if it has few ranks, on a ring: it is refused in one line that
/// a terminal can show, or what comes of it passes validation and, if the verifier proves it, the
/// proof for one count.
ImportOutcome checkImport(llvm::StringRef text);

}  // namespace torc::fuzz

#endif  // TORC_TESTS_FUZZ_CHECKED_IMPORT_H_
