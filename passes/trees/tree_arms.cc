// Intervals of arms.
#include "passes/trees/tree_arms.h"

#include "schedules/root.h"

namespace torc::passes {
namespace {

/// Whether the root is at a coordinate that only a call knows.
bool isAtR(const ScheduleView& schedule, std::uint32_t axis) {
  return rowOf(schedule.collective).isRooted() && !countsFromRoot(schedule, axis);
}

/// The arm of the `count` nodes on one side of coordinate 0 on an axis of `size`.
TreeArm armFromOrigin(int sign, std::uint32_t count, std::uint32_t size) {
  /// The nodes from the one at this distance to the one at that.
  const auto nodes = [&](std::uint32_t nearest, std::uint32_t farthest) {
    const std::int64_t first = sign > 0 ? std::int64_t{nearest} : -std::int64_t{farthest};
    return Interval::absolute(static_cast<std::int32_t>(wrap(first, size)), farthest - nearest + 1);
  };
  TreeArm arm;
  arm.sign = sign;
  arm.fed = nodes(1, count);
  arm.feeding = nodes(0, count - 1);
  arm.last = nodes(count, count);
  arm.has_passing = count > 1;
  if (arm.has_passing) arm.passing = nodes(1, count - 1);
  return arm;
}

}  // namespace

llvm::SmallVector<TreeArm, 2> treeArms(const ScheduleView& schedule, std::uint32_t axis) {
  const std::uint32_t size = schedule.topology.axes[axis].size;
  if (isAtR(schedule, axis)) {
    TreeArm up, down;
    up.fed = Interval::fromRoot(1, size - 1);
    up.feeding = Interval::fromRoot(0, size - 2);
    down.sign = -1;
    down.fed = Interval::toRoot(0, -1);
    down.feeding = Interval::toRoot(1, 0);
    return {up, down};
  }
  const std::uint32_t up = schedule.topology.axes[axis].wraps() ? size / 2 : size - 1;
  llvm::SmallVector<TreeArm, 2> arms = {armFromOrigin(1, up, size)};
  if (up < size - 1) arms.push_back(armFromOrigin(-1, size - 1 - up, size));
  return arms;
}

Interval rootCoordinate(const ScheduleView& schedule, std::uint32_t axis) {
  if (schedule.topology.axes[axis].size == 1) return Interval::all();
  return isAtR(schedule, axis) ? Interval::root() : Interval::absolute(0);
}

}  // namespace torc::passes
