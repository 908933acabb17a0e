// Who serves which sizes: entries of an index, of which some sizes are given to another schedule.
#ifndef TORC_COMPILER_LIBRARY_SERVED_RANGE_H_
#define TORC_COMPILER_LIBRARY_SERVED_RANGE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <llvm/ADT/ArrayRef.h>

#include "model/machines/machine.h"
#include "schedules/library/index.h"

namespace torc::compiler {

/// An entry, and which one of the old index it is, or is cut of; none: it is a new one.
struct ServedRange {
  LibraryEntry entry;
  std::optional<std::size_t> from;
};

/// The seconds of a size by an entry. Between the sizes that were predicted, and beyond them, a
/// schedule is taken to need a start-up and a share of the size.
double secondsAt(const LibraryEntry& entry, std::uint64_t bytes);

/// Vectors of fewer bytes, of less than an element a block, are predicted as those of so many.
std::uint64_t leastModelled(Collective collective, const Topology& shape);

/// The bound of the collective for a vector of `bytes`, seconds.
double boundAt(Collective collective, const model::Machine& machine, std::uint64_t bytes);

/// Frees the sizes of `taken`, on its shape and of its collective: ranges that lie in it go, others
/// are cut.
std::vector<ServedRange> withoutSizes(llvm::ArrayRef<ServedRange> ranges,
                                      const LibraryEntry& taken);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_LIBRARY_SERVED_RANGE_H_
