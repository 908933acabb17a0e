// Cuts entries, and evaluates their predicted times.
#include "compiler/library/served_range.h"

#include <algorithm>

#include "model/bounds/bounds.h"

namespace torc::compiler {
namespace {

/// The part of an entry for sizes from `lowest` to `highest`.
LibraryEntry partOf(const LibraryEntry& entry, std::uint64_t lowest, std::uint64_t highest) {
  LibraryEntry part = entry;
  part.lowest = lowest;
  part.highest = highest;
  part.predicted_to = highest == kOpenEnd ? std::max(lowest, entry.predicted_to) : highest;
  part.lowest_s = secondsAt(entry, part.lowest);
  part.highest_s = secondsAt(entry, part.predicted_to);
  return part;
}

}  // namespace

double secondsAt(const LibraryEntry& entry, std::uint64_t bytes) {
  if (entry.predicted_to == entry.lowest) return entry.lowest_s;
  const auto lowest = static_cast<double>(entry.lowest);
  const double share =
      (static_cast<double>(bytes) - lowest) / (static_cast<double>(entry.predicted_to) - lowest);
  return std::max(0.0, entry.lowest_s + share * (entry.highest_s - entry.lowest_s));
}

std::uint64_t leastModelled(Collective collective, const Topology& shape) {
  constexpr std::uint64_t kElement = 4;
  return kElement * rowOf(collective).countedBlocks(shape.ranks(), shape.axis_count);
}

double boundAt(Collective collective, const model::Machine& machine, std::uint64_t bytes) {
  return model::lowerBound(machine, {rowOf(collective), static_cast<double>(bytes)}).bound_s;
}

std::vector<ServedRange> withoutSizes(llvm::ArrayRef<ServedRange> ranges,
                                      const LibraryEntry& taken) {
  std::vector<ServedRange> left;
  for (const ServedRange& range : ranges) {
    const LibraryEntry& entry = range.entry;
    if (entry.shape != taken.shape || entry.collective != taken.collective ||
        entry.highest < taken.lowest || taken.highest < entry.lowest) {
      left.push_back(range);
      continue;
    }
    // An entry for size 0 alone is for calls without a size; a part of this entry may be unsuitable
    // for them.
    if (entry.lowest < taken.lowest && taken.lowest - 1 > kNoSize)
      left.push_back({partOf(entry, entry.lowest, taken.lowest - 1), range.from});
    if (taken.highest < entry.highest)
      left.push_back({partOf(entry, taken.highest + 1, entry.highest), range.from});
  }
  return left;
}

}  // namespace torc::compiler
