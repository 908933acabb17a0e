// Adds users' schedules to an existing library.
#ifndef TORC_COMPILER_LIBRARY_ADD_H_
#define TORC_COMPILER_LIBRARY_ADD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "compiler/progress_line.h"
#include "schedules/library/index.h"

namespace torc::compiler {

/// A schedule file to add, with its sizes.
struct Addition {
  std::string path;
  std::optional<Collective> collective;  // served collective; std::nullopt: the schedule's own
  std::uint64_t lowest = kNoSize + 1;    // bytes, both included
  std::uint64_t highest = kOpenEnd;
};

/// A range of an added schedule, on one of its shapes.
struct AddedRange {
  std::string path;                                   // of the added file
  LibraryEntry entry;                                 // in the new index
  std::optional<std::pair<double, double>> before_s;  // previous times, if served
};

struct AddedToLibrary {
  LibraryIndex index;
  std::vector<AddedRange> ranges;
};

/// Proves the schedules and adds them to the library at `path`, all or none. Each serves its sizes
/// on all sub-tori of its topology. Ranges that served these sizes, tuned ones too, are cut or
/// removed; schedules of the build that then serve no size stay as candidates. An interruption
/// leaves either the old or the new library. Errors name the file and its mismatch.
llvm::Expected<AddedToLibrary> addToLibrary(llvm::StringRef path,
                                            llvm::ArrayRef<Addition> additions, Progress& progress);

/// Whether an entry belongs to an added schedule.
bool isAdded(const LibraryEntry& entry);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_LIBRARY_ADD_H_
