// Entries of an index during a change: the sizes of some are reassigned to another schedule.
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

/// An entry, and the number of its old entry, from which it may be cut; std::nullopt: a new entry.
struct ServedRange {
  LibraryEntry entry;
  std::optional<std::size_t> from;
};

/// Time of an entry for a size. Between predicted sizes, and beyond them, the time is linear in the
/// size.
double secondsAt(const LibraryEntry& entry, std::uint64_t bytes);

/// Smaller vectors, with less than an element per block, are predicted like this size.
std::uint64_t leastModelled(Collective collective, const Topology& shape);

/// The bound of the collective for a vector of `bytes`, seconds.
double boundAt(Collective collective, const model::Machine& machine, std::uint64_t bytes);

/// Frees the sizes of `taken` for its shape and collective: ranges within it are removed, others
/// are cut.
std::vector<ServedRange> withoutSizes(llvm::ArrayRef<ServedRange> ranges,
                                      const LibraryEntry& taken);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_LIBRARY_SERVED_RANGE_H_
