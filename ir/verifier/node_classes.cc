#include "ir/verifier/node_classes.h"

namespace torc {

NodeClasses::NodeClasses(const ScheduleView& schedule, bool per_rank) : schedule_(schedule) {
  for (std::uint32_t axis = 0; axis < schedule_.topology.axis_count; ++axis) {
    collapsed_[axis] = !per_rank && looksTheSame(axis);
    if (!collapsed_[axis]) count_ *= schedule_.topology.axes[axis].size;
  }
}

bool NodeClasses::looksTheSame(std::uint32_t axis) const {
  const Axis& it = schedule_.topology.axes[axis];
  if (it.size == 1) return true;
  if (rowOf(schedule_.collective).isRooted()) return false;  // the root is not like the others
  if (!it.wraps() || schedule_.topology.dead_node_count > 0) return false;
  auto restricted = [&](std::uint32_t box) {
    const Interval& interval = schedule_.boxes[box][axis];
    return interval.kind == IntervalKind::kAbsolute && interval.length < it.size;
  };
  for (const Operation& operation : schedule_.operations) {
    if (operation.guard != kNone && restricted(operation.guard)) return false;
    for (const Region* region : {&operation.dst, &operation.a, &operation.b}) {
      if (!region->present()) continue;
      for (const Piece& piece : schedule_.piecesOf(*region)) {
        if (restricted(piece.box)) return false;
      }
    }
  }
  for (const Frame& frame : schedule_.frames) {
    for (const Piece& piece : schedule_.piecesOf(frame)) {
      if (restricted(piece.box)) return false;
    }
  }
  return true;
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
  Coordinates at = coordinatesOf(node_class);
  for (std::uint32_t axis = 0; axis < schedule_.topology.axis_count; ++axis) {
    collapsed_distance[axis] = collapsed_[axis] ? shift[axis] : 0;
    at[axis] = static_cast<std::int32_t>(wrap(static_cast<std::int64_t>(at[axis]) + shift[axis],
                                              schedule_.topology.axes[axis].size));
  }
  return classOf(at);
}

bool NodeClasses::executes(std::uint32_t node_class, const Operation& operation) const {
  const Coordinates at = coordinatesOf(node_class);
  if (operation.guard != kNone &&
      !admits(schedule_.boxes[operation.guard], schedule_.topology, at)) {
    return false;
  }
  return !schedule_.topology.isDead(at);
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

}  // namespace torc
