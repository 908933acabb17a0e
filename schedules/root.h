// Root: how a schedule of a rooted collective lies on the torus for one root, which a call names at
// run time. In such a schedule coordinates count from the root on every axis that wraps, so that
// the root stands at the origin there, whoever it is. On other axes guards may be root-relative; on
// a ring that dead links cut, coordinates count from the beginning of the line that is left.
#ifndef TORC_SCHEDULES_ROOT_H_
#define TORC_SCHEDULES_ROOT_H_

#include <cstdint>
#include <vector>

#include "schedules/schedule.h"

namespace torc {

/// Whether coordinates on `axis` count from the root: in a rooted collective, on axes that wrap and
/// are not cut. A torus with other damage (Topology::isBroken, or a cable of a ring of two) does
/// not look the same from every node: there they never do.
bool countsFromRoot(const ScheduleView& schedule, std::uint32_t axis);

/// `schedule` on the topology that its coordinates are of. In a rooted collective where rings are
/// cut, that is one whose lines are meshes, undamaged: no message crosses the cut, on any ring.
ScheduleView asCounted(const ScheduleView& schedule);

/// `interval`, which is root-relative, for a root at `root` on an axis of `size`: an absolute one,
/// of length 0 where it is empty.
Interval atRoot(const Interval& interval, std::int32_t root, std::uint32_t size);

/// Whether an interval of `box` is root-relative.
bool isRootRelative(const Box& box);

/// Whether some guard is: then the program of a node depends on more than where it lies from the
/// root.
bool hasRootRelativeGuard(const ScheduleView& schedule);

/// A schedule for one root. Cheap where no guard is root-relative.
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
  /// Where the schedule's coordinates count from.
  const Coordinates& origin() const { return origin_; }

  /// The coordinates of `rank` as the schedule counts them.
  Coordinates coordinatesOf(std::int32_t rank) const;
  /// The rank at coordinates as the schedule counts them; -1 for a dead node.
  std::int32_t rankOf(const Coordinates& at) const;
  /// The rank at `from` + `shift`, as Topology::neighbour.
  std::int32_t neighbour(const Coordinates& from, const Shift& shift) const;

 private:
  ScheduleView view_;
  const Topology machine_;  // whose nodes have the ranks
  std::int32_t root_;
  Coordinates origin_{};
  std::vector<Box> boxes_;  // of view_, where they differ
};

}  // namespace torc

#endif  // TORC_SCHEDULES_ROOT_H_
