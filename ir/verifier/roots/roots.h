// Roots: for which of them a rooted schedule is proved. On an axis that counts from the root there
// is one. On a line every coordinate of the root makes a schedule of its own, but two of them
// differ in nothing but the lengths of intervals, where neither comes near anything that ends on
// the axis: what nodes do next to each other, and so every step of the proof, is the same. Near is
// what offsets from the root and a hop reach.
#ifndef TORC_IR_VERIFIER_ROOTS_H_
#define TORC_IR_VERIFIER_ROOTS_H_

#include <vector>

#include "schedules/schedule.h"

namespace torc::ir {

/// Places of the root, in the coordinates of the schedule, whose proofs are a proof for all; the
/// origin for a collective that has no root. Live nodes only. With `all`, and on a damaged torus,
/// of which no two places look alike, every one; but where guards are for some roots (kForRoots),
/// those near an end, as on a line, and of a coordinate that makes no difference (root_shifts.h)
/// one. `schedule` has no loops; each segment has `operations_per_segment` of its operations.
std::vector<Coordinates> rootsToProve(const ScheduleView& schedule, bool all,
                                      std::uint32_t operations_per_segment);

}  // namespace torc::ir

#endif  // TORC_IR_VERIFIER_ROOTS_H_
