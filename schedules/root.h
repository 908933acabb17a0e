// Root: places a schedule of a rooted collective on the torus for the root of one call. In such a
// schedule coordinates count from the root on every axis that wraps, so the root has coordinate 0
// there. On other axes guards may be root-relative; on a ring cut by dead links, coordinates count
// from the beginning of the remaining line.
#ifndef TORC_SCHEDULES_ROOT_H_
#define TORC_SCHEDULES_ROOT_H_

#include <cstdint>
#include <vector>

#include "schedules/schedule.h"

namespace torc {

/// Whether coordinates on `axis` count from the root: in a rooted collective, on axes that wrap and
/// are not cut. A torus with other damage (Topology::isBroken, or a dead cable of a ring of two)
/// looks different from every node: there they never do.
bool countsFromRoot(const ScheduleView& schedule, std::uint32_t axis);

/// `schedule` on the topology of its coordinates. In a rooted collective with cut rings that
/// topology has meshes for the lines, undamaged: no message crosses the cut, on any ring.
ScheduleView asCounted(const ScheduleView& schedule);

/// The absolute interval of the root-relative `interval` for a root at `root` on an axis of `size`;
/// its length is 0 if it is empty.
Interval atRoot(const Interval& interval, std::int32_t root, std::uint32_t size);

/// Whether an interval of `box` is root-relative.
bool isRootRelative(const Box& box);

/// Whether some guard is root-relative: then a node's program depends on more than its offset from
/// the root.
bool hasRootRelativeGuard(const ScheduleView& schedule);

/// A schedule for one root. Construction is cheap unless a guard is root-relative.
class RootedSchedule {
 public:
  /// `schedule` must outlive this object. `root` is one of its ranks; 0 in a collective that has no
  /// root.
  RootedSchedule(const ScheduleView& schedule, std::int32_t root);
  RootedSchedule(const RootedSchedule&) = delete;
  RootedSchedule& operator=(const RootedSchedule&) = delete;

  /// The schedule with absolute intervals in place of root-relative ones, on the topology of
  /// asCounted. An interval that is empty for this root has length 0.
  const ScheduleView& view() const { return view_; }
  std::int32_t root() const { return root_; }
  /// Origin of the schedule's coordinates.
  const Coordinates& origin() const { return origin_; }

  /// The coordinates of `rank` in the schedule.
  Coordinates coordinatesOf(std::int32_t rank) const;
  /// The rank at coordinates of the schedule; -1 for a dead node.
  std::int32_t rankOf(const Coordinates& at) const;
  /// The rank at `from` + `shift`, as Topology::neighbour.
  std::int32_t neighbour(const Coordinates& from, const Shift& shift) const;

 private:
  ScheduleView view_;
  const Topology machine_;  // the topology with the ranks
  std::int32_t root_;
  Coordinates origin_{};
  std::vector<Box> boxes_;  // boxes of view_ that differ
};

}  // namespace torc

#endif  // TORC_SCHEDULES_ROOT_H_
