// Adds schedules that people bring to a library that is there.
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

/// A schedule's file that is to serve.
struct Addition {
  std::string path;
  std::optional<Collective> collective;  // that it is to serve; none: its own
  std::uint64_t lowest = kNoSize + 1;    // bytes, both included
  std::uint64_t highest = kOpenEnd;
};

/// A range of an added schedule, on one of the shapes that it is for.
struct AddedRange {
  std::string path;                                   // of the file that was brought
  LibraryEntry entry;                                 // of the new index
  std::optional<std::pair<double, double>> before_s;  // for the same sizes, where they were served
};

struct AddedToLibrary {
  LibraryIndex index;
  std::vector<AddedRange> ranges;
};

/// Adds them to the library at `path`, all or none. They are proved before. Each serves its sizes
/// on all sub-tori of its topology; ranges that served them are cut, or go, tuned ones too, and
/// schedules of the build that serve no size then stay as candidates. Whatever ends it, the library
/// is the old or the new one. Errors name the file, and what of it does not fit.
llvm::Expected<AddedToLibrary> addToLibrary(llvm::StringRef path,
                                            llvm::ArrayRef<Addition> additions, Progress& progress);

/// Whether an entry is one of an added schedule.
bool isAdded(const LibraryEntry& entry);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_LIBRARY_ADD_H_
