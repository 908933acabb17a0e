// Tuned entries: chooses a schedule, or MPI's own collective, for each range of sizes, from
// measurements.
#ifndef TORC_RUNTIME_RUN_TUNED_ENTRIES_H_
#define TORC_RUNTIME_RUN_TUNED_ENTRIES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "schedules/library/index.h"

namespace torc::runtime {

/// Entries from `measurements`, in the index's order. The measurements are of one collective on one
/// shape, by size and file, and the index has entries for both. Among equally fast candidates
/// (pickWinner) the index's own entry has priority, then the winner of the next smaller size, then
/// any other schedule, then MPI's own collective. The border between two sizes is the geometric
/// mean. Sizes below the smallest measured one follow it. If the largest is at least `asked`, all
/// larger sizes in the index follow that.
std::vector<LibraryEntry> tunedEntries(const LibraryIndex& index,
                                       std::span<const LibraryMeasurement> measurements,
                                       std::uint64_t asked);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_TUNED_ENTRIES_H_
