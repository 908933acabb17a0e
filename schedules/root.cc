// Fits a schedule to its root.
#include "schedules/root.h"

#include <algorithm>

namespace torc {

Interval atRoot(const Interval& interval, std::int32_t root, std::uint32_t size) {
  const RootEnds ends = interval.rootEnds();
  std::int64_t first = ends.first + (ends.first_from_root ? root : 0);
  std::int64_t last = ends.last + (ends.last_from_root ? root : 0);
  if (interval.kind == IntervalKind::kForRoots) {
    const RootSpan span = interval.rootSpan();
    if (wrap(std::int64_t{root} - span.from, size) > wrap(std::int64_t{span.to} - span.from, size))
      return Interval::absolute(0, 0);
    first = wrap(first, size);
    return Interval::absolute(static_cast<std::int32_t>(first), wrap(last - first, size) + 1);
  }
  if (interval.kind == IntervalKind::kRootWithin) {
    first = std::max<std::int64_t>(first, root);
    last = std::min<std::int64_t>(last, root);
  }
  first = std::max<std::int64_t>(first, 0);
  last = std::min<std::int64_t>(last, std::int64_t{size} - 1);
  if (first > last) return Interval::absolute(0, 0);
  return Interval::absolute(static_cast<std::int32_t>(first),
                            static_cast<std::uint32_t>(last - first + 1));
}

namespace {

/// Whether the only damage, if any, is cuts of rings of three or more nodes, and no message that
/// would cross them is dropped.
bool hasCutsAlone(const ScheduleView& schedule) {
  if (!schedule.topology.isDamaged()) return true;
  if (schedule.topology.isBroken() || (schedule.flags & kDropsBroken) != 0) return false;
  for (std::uint32_t axis = 0; axis < schedule.topology.axis_count; ++axis) {
    if (schedule.topology.axes[axis].size == 2 && schedule.topology.isLine(axis)) return false;
  }
  return true;
}

}  // namespace

bool countsFromRoot(const ScheduleView& schedule, std::uint32_t axis) {
  const Topology& topology = schedule.topology;
  return rowOf(schedule.collective).isRooted() && topology.axes[axis].wraps() &&
         !topology.isLine(axis) && hasCutsAlone(schedule);
}

ScheduleView asCounted(const ScheduleView& schedule) {
  ScheduleView counted = schedule;
  Topology& topology = counted.topology;
  if (!rowOf(schedule.collective).isRooted() || !topology.isDamaged() || !hasCutsAlone(schedule)) {
    return counted;
  }
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    if (schedule.topology.isLine(axis)) topology.axes[axis].kind = AxisKind::kMesh;
  }
  topology.dead_link_count = 0;
  topology.dead_link_table = {};
  return counted;
}

bool isRootRelative(const Box& box) {
  return std::ranges::any_of(
      box.axes, [](const Interval& interval) { return isRootRelative(interval.kind); });
}

bool hasRootRelativeGuard(const ScheduleView& schedule) {
  return rowOf(schedule.collective).isRooted() &&
         std::ranges::any_of(schedule.boxes, [](const Box& box) { return isRootRelative(box); });
}

RootedSchedule::RootedSchedule(const ScheduleView& schedule, std::int32_t root)
    : view_(asCounted(schedule)), machine_(schedule.topology), root_(root) {
  if (!rowOf(schedule.collective).isRooted()) return;
  const Topology& topology = schedule.topology;
  const Coordinates place = topology.coordinatesOf(root);
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    if (countsFromRoot(schedule, axis)) {
      origin_[axis] = place[axis];
    } else if (hasCutsAlone(schedule)) {
      origin_[axis] = static_cast<std::int32_t>(topology.lineStart(axis));
    }
  }
  const Coordinates at = coordinatesOf(root);
  if (!hasRootRelativeGuard(schedule)) return;
  boxes_.assign(schedule.boxes.begin(), schedule.boxes.end());
  for (Box& box : boxes_) {
    for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
      if (isRootRelative(box[axis].kind)) {
        box[axis] = atRoot(box[axis], at[axis], topology.axes[axis].size);
      }
    }
  }
  view_.boxes = boxes_;
}

Coordinates RootedSchedule::coordinatesOf(std::int32_t rank) const {
  return machine_.moved(machine_.coordinatesOf(rank), opposite(origin_));
}

std::int32_t RootedSchedule::rankOf(const Coordinates& at) const {
  return neighbour(at, Shift{});
}

std::int32_t RootedSchedule::neighbour(const Coordinates& from, const Shift& shift) const {
  Shift turned = shift;
  for (std::uint32_t axis = 0; axis < machine_.axis_count; ++axis)
    turned[axis] += origin_[axis];
  return machine_.neighbour(from, turned);
}

}  // namespace torc
