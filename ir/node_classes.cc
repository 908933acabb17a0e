#include "ir/node_classes.h"

#include <algorithm>

namespace torc::ir {

NodeClasses::NodeClasses(const ScheduleView& schedule, bool per_rank)
    : schedule_(schedule), dropped_(schedule), axes_(schedule.blockAxes()) {
  for (std::uint32_t axis = 0; axis < schedule_.topology.axis_count; ++axis) {
    collapsed_[axis] = !per_rank && looksTheSame(axis);
    if (!collapsed_[axis]) count_ *= schedule_.topology.axes[axis].size;
  }
}

bool NodeClasses::looksTheSame(std::uint32_t axis) const {
  const Axis& it = schedule_.topology.axes[axis];
  if (it.size == 1) return true;
  const CollectiveRow& row = rowOf(schedule_.collective);
  if (row.isRooted()) return false;  // the root is not like the others
  // If the order of ranks matters, the first node of a ring differs from the others.
  if (row.isPrefix() || (schedule_.flags & kOrderedSums) != 0) return false;
  if (schedule_.topology.dead_node_count > 0 || (schedule_.flags & kDropsBroken) != 0) return false;
  // On a line all nodes look alike only if operations name just the node's own coordinate, or that
  // of a peer of a loop, whose shifts are cyclic.
  const bool wraps = it.wraps();
  auto restricted = [&](const Interval& interval) {
    if (interval.kind == IntervalKind::kAll || interval.length == it.size) return false;
    if (interval.kind == IntervalKind::kAbsolute) return true;
    return !wraps && (interval.start != 0 || interval.length != 1);
  };
  auto restrictedBlocks = [&](const auto& blocks) {
    for (const Piece& piece : schedule_.piecesOf(blocks)) {
      for (std::uint32_t end = 0; end < axes_.ends(); ++end) {
        if (restricted(schedule_.blockInterval(piece.box, end * axes_.nodeAxes() + axis))) {
          return true;
        }
      }
    }
    return false;
  };
  for (const Operation& operation : schedule_.operations) {
    if (restricted(schedule_.guardBox(operation.guard)[axis])) return false;
    const bool shifts = operation.peer != kNone && !operation.hasPeerLoop() &&
                        schedule_.shifts[operation.peer][axis] != 0;
    if (shifts && !wraps) return false;
    for (const Region* region : {&operation.dst, &operation.a, &operation.b}) {
      if (region->present() && restrictedBlocks(*region)) return false;
    }
  }
  return std::ranges::none_of(schedule_.frames, restrictedBlocks);
}

double NodeClasses::executions(const Operation& operation) const {
  double nodes = 1;
  for (std::uint32_t axis = 0; axis < schedule_.topology.axis_count; ++axis) {
    if (collapsed_[axis]) continue;
    const Interval& guard = schedule_.guardBox(operation.guard)[axis];
    const bool is_absolute = guard.kind == IntervalKind::kAbsolute;
    nodes *= is_absolute ? guard.length : schedule_.topology.axes[axis].size;
  }
  return nodes;
}

Coordinates NodeClasses::coordinatesOf(std::uint32_t node_class) const {
  Coordinates at{};
  for (std::uint32_t axis = 0; axis < schedule_.topology.axis_count; ++axis) {
    if (collapsed_[axis]) continue;
    at[axis] = static_cast<std::int32_t>(node_class % schedule_.topology.axes[axis].size);
    node_class /= schedule_.topology.axes[axis].size;
  }
  return at;
}

std::uint32_t NodeClasses::classOf(const Coordinates& at) const {
  std::uint32_t node_class = 0;
  std::uint32_t stride = 1;
  for (std::uint32_t axis = 0; axis < schedule_.topology.axis_count; ++axis) {
    if (collapsed_[axis]) continue;
    node_class += stride * static_cast<std::uint32_t>(at[axis]);
    stride *= schedule_.topology.axes[axis].size;
  }
  return node_class;
}

std::uint32_t NodeClasses::neighbour(std::uint32_t node_class, const Shift& shift,
                                     Coordinates& collapsed_distance) const {
  for (std::uint32_t axis = 0; axis < schedule_.topology.axis_count; ++axis)
    collapsed_distance[axis] = collapsed_[axis] ? shift[axis] : 0;
  return classOf(schedule_.topology.moved(coordinatesOf(node_class), shift));
}

bool NodeClasses::executes(std::uint32_t node_class, const Operation& operation) const {
  const Coordinates at = coordinatesOf(node_class);
  return admits(schedule_.guardBox(operation.guard), schedule_.topology, at) &&
         !schedule_.topology.isDead(at) && !dropped_.drops(operation, at);
}

Shift messageDirection(const Topology& topology, const Shift& shift, int sign) {
  Shift result{};
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    const std::int64_t distance = static_cast<std::int64_t>(shift[axis]) * sign;
    const std::uint32_t size = topology.axes[axis].size;
    result[axis] = topology.axes[axis].wraps() ? static_cast<std::int32_t>(wrap(distance, size))
                                               : static_cast<std::int32_t>(distance);
  }
  return result;
}

}  // namespace torc::ir
