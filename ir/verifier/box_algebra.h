// Algebra of absolute boxes of nodes (Ranges): intersection, difference, union, shift. All
// operations are cyclic: two ranges of a ring can meet in two places.
#ifndef TORC_IR_VERIFIER_BOX_ALGEBRA_H_
#define TORC_IR_VERIFIER_BOX_ALGEBRA_H_

#include <llvm/ADT/SmallVector.h>

#include "schedules/box.h"
#include "schedules/schedule.h"
#include "schedules/topology/topology.h"

namespace torc::ir {

using RangesList = llvm::SmallVector<Ranges, 4>;

/// The common coordinates of two ranges: up to two ranges.
llvm::SmallVector<Range, 2> intersect(const Range& a, const Range& b, std::uint32_t size);
/// The coordinates of `a` that are not in `b`: up to two ranges.
llvm::SmallVector<Range, 2> subtract(const Range& a, const Range& b, std::uint32_t size);
/// Joins `b` to `a` if they are disjoint and adjacent; false otherwise.
bool join(Range& a, const Range& b, std::uint32_t size);

/// The axis, of `axes`, on which two boxes or lists of spans differ; `axes`: there is none; kNone:
/// there are several.
template <typename Axes>
std::uint32_t differingAxis(const Axes& a, const Axes& b, std::uint32_t axes) {
  std::uint32_t differing = axes;
  for (std::uint32_t axis = 0; axis < axes; ++axis) {
    if (a[axis] == b[axis]) continue;
    if (differing != axes) return kNone;
    differing = axis;
  }
  return differing;
}
/// Adds `added` to disjoint ones, joined to those that it touches: they differ on one axis, where
/// `joinOn(axis, of_added, of_other)` joins them.
template <typename Axes, typename List, typename JoinOn>
void addJoined(Axes added, std::uint32_t axes, List& list, JoinOn joinOn) {
  for (std::size_t i = 0; i < list.size();) {
    const std::uint32_t axis = differingAxis(added, list[i], axes);
    if (axis < axes && joinOn(axis, added[axis], list[i][axis])) {
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
      i = 0;
    } else {
      ++i;
    }
  }
  list.push_back(added);
}
/// The same operations on boxes.
bool overlaps(const Ranges& a, const Ranges& b, const Topology& topology);
void intersect(const Ranges& a, const Ranges& b, const Topology& topology, RangesList& out);
/// Appends `a` without `b` as disjoint boxes.
void subtract(const Ranges& a, const Ranges& b, const Topology& topology, RangesList& out);
/// All `boxes`, cut like that.
RangesList intersect(const RangesList& boxes, const Ranges& b, const Topology& topology);
RangesList subtract(const RangesList& boxes, const Ranges& b, const Topology& topology);

/// The coordinates that `guard` admits on `axis` for any root; possibly the whole axis.
Interval guardOn(const Box& guard, std::uint32_t axis, std::uint32_t size);
/// Whether some node may execute both of two operations with these guards, boxes or kNone, for some
/// root.
bool guardsMeet(const ScheduleView& schedule, std::uint32_t a, std::uint32_t b);

}  // namespace torc::ir

#endif  // TORC_IR_VERIFIER_BOX_ALGEBRA_H_
