// Builds a library: the best schedules of the sub-tori of a machine's partitions, in a folder.
#ifndef TORC_COMPILER_LIBRARY_BUILD_H_
#define TORC_COMPILER_LIBRARY_BUILD_H_

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "compiler/library/library_shapes.h"
#include "compiler/library/manifest.h"
#include "compiler/progress_line.h"

namespace torc::compiler {

/// A finished library.
struct BuiltLibrary {
  LibraryIndex index;
  std::vector<ScheduleRange> ranges;    // of the index's entries
  std::vector<std::string> candidates;  // schedules of the index's candidates
};

/// Builds the library of `plan` into `destination`, with `jobs` threads. The contents depend on
/// plan, machine and settings only. Errors: a schedule cannot be compiled or proved, or the
/// destination is no library or cannot be written; an old library stays then.
llvm::Expected<BuiltLibrary> buildLibrary(const LibraryShapes& plan, const model::Machine& machine,
                                          const LibrarySettings& settings,
                                          llvm::StringRef destination, unsigned jobs,
                                          Progress& progress);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_LIBRARY_BUILD_H_
