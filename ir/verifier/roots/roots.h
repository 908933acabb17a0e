// Roots: the positions of the root for which a rooted schedule is proved. On an axis that counts
// from the root one is enough. On a line every coordinate of the root makes a schedule of its own.
// But two of them differ only in lengths of intervals if neither is near an end of an interval on
// the axis: then neighbouring nodes execute the same operations, and every step of the proof is the
// same. Near means within the offsets from the root plus a hop.
#ifndef TORC_IR_VERIFIER_ROOTS_H_
#define TORC_IR_VERIFIER_ROOTS_H_

#include <vector>

#include "schedules/schedule.h"

namespace torc::ir {

/// Positions of the root, in the coordinates of the schedule, whose proofs cover all roots; the
/// origin for a collective without root. Live nodes only. With `all`, and on a damaged torus, whose
/// positions all differ, every position. Exceptions: with guards for some roots (kForRoots) those
/// near an end, as on a line; of a coordinate that makes no difference (root_shifts.h), one.
/// `schedule` has no loops; each segment has `operations_per_segment` of its operations.
std::vector<Coordinates> rootsToProve(const ScheduleView& schedule, bool all,
                                      std::uint32_t operations_per_segment);

}  // namespace torc::ir

#endif  // TORC_IR_VERIFIER_ROOTS_H_
