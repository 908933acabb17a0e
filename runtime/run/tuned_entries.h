// What tuning makes of its measurements: which schedule, or MPI's own collective, serves which
// sizes.
#ifndef TORC_RUNTIME_RUN_TUNED_ENTRIES_H_
#define TORC_RUNTIME_RUN_TUNED_ENTRIES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "schedules/library/index.h"

namespace torc::runtime {

/// Seconds that a preloaded program's call takes besides the persistent collective that was
/// measured, less those that one takes that is handed to MPI (docs/sites/tuning.md: 0.11 and 0.06
/// us).
inline constexpr double kCallAdds = 5e-8;

/// Entries for what `measurements` say, in the index's order; these are of one collective on one
/// shape, by size and file, and the index has entries for both. Of what is as fast as the fastest,
/// calls of a schedule taken to be kCallAdds longer, the schedule of the index's own entry is
/// taken, else that of the size below, else any other schedule, else MPI's own collective. Between
/// sizes with different ones the border is the geometric mean. Sizes below the smallest that was
/// measured go with it; above the largest, if that is at least `asked`, all that the index has an
/// entry for.
std::vector<LibraryEntry> tunedEntries(const LibraryIndex& index,
                                       std::span<const LibraryMeasurement> measurements,
                                       std::uint64_t asked);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_TUNED_ENTRIES_H_
