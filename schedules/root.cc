// Turning a schedule to its root.
#include "schedules/root.h"

#include <algorithm>

namespace torc {
namespace {

/// `interval`, which is root-relative, for a root at `root` of an axis of `size`.
Interval atRoot(const Interval& interval, std::int32_t root, std::uint32_t size) {
  const std::int64_t offset = std::int64_t{root} + interval.start;
  std::int64_t first = offset, last = offset;
  switch (interval.kind) {
    case IntervalKind::kFromRoot:
      last = interval.length;
      break;
    case IntervalKind::kToRoot:
      first = interval.length;
      break;
    default:
      last = offset + interval.length - 1;
      break;
  }
  first = std::max<std::int64_t>(first, 0);
  last = std::min<std::int64_t>(last, std::int64_t{size} - 1);
  if (first > last) return Interval::absolute(0, 0);
  return Interval::absolute(static_cast<std::int32_t>(first),
                            static_cast<std::uint32_t>(last - first + 1));
}

}  // namespace

bool countsFromRoot(const ScheduleView& schedule, std::uint32_t axis) {
  return rowOf(schedule.collective).isRooted() && schedule.topology.axes[axis].wraps() &&
         !schedule.topology.isDamaged();
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
    : view_(schedule), root_(root) {
  if (!rowOf(schedule.collective).isRooted()) return;
  const Topology& topology = schedule.topology;
  const Coordinates at = topology.coordinatesOf(root);
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    if (countsFromRoot(schedule, axis)) origin_[axis] = at[axis];
  }
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
  Coordinates at = view_.topology.coordinatesOf(rank);
  for (std::uint32_t axis = 0; axis < view_.topology.axis_count; ++axis) {
    if (origin_[axis] == 0) continue;
    at[axis] = static_cast<std::int32_t>(
        wrap(std::int64_t{at[axis]} - origin_[axis], view_.topology.axes[axis].size));
  }
  return at;
}

std::int32_t RootedSchedule::rankOf(const Coordinates& at) const {
  return neighbour(at, Shift{});
}

std::int32_t RootedSchedule::neighbour(const Coordinates& from, const Shift& shift) const {
  Shift turned = shift;
  for (std::uint32_t axis = 0; axis < view_.topology.axis_count; ++axis)
    turned[axis] += origin_[axis];
  return view_.topology.neighbour(from, turned);
}

}  // namespace torc
