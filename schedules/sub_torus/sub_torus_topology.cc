// Canonical topologies of the sub-tori of a partition.
#include "schedules/sub_torus/sub_torus_topology.h"

#include <algorithm>
#include <tuple>

namespace torc {
namespace {

/// Axes of a sub-torus's topology.
std::uint32_t axisCount(const Extents& extents) {
  return static_cast<std::uint32_t>(
      std::ranges::count_if(extents, [](std::uint32_t extent) { return extent > 1; }));
}

AxisKind kindOf(const Axis& axis, std::uint32_t extent) {
  return extent == axis.size || axis.kind == AxisKind::kCore ? axis.kind : AxisKind::kMesh;
}

/// The damage of the whole partition in the axes of `sub_torus`.
void addDamage(const Topology& partition, const SubTorusAxes& axes, Topology& sub_torus) {
  // Damage of a valid partition fits and is unique. A cable along an axis of one node cannot be
  // dead: there is none.
  for (const DeadLink& link : partition.deadLinks()) {
    const auto axis = std::ranges::find(axes, link.axis) - axes.begin();
    (void)sub_torus.addDeadLink(
        {turned(link.from, sub_torus, axes), static_cast<std::uint32_t>(axis)});
  }
  for (const Coordinates& node : partition.deadNodes())
    (void)sub_torus.addDeadNode(turned(node, sub_torus, axes));
}

}  // namespace

Coordinates turned(const Coordinates& at, const Topology& sub_torus, const SubTorusAxes& axes) {
  Coordinates result{};
  for (std::uint32_t i = 0; i < sub_torus.axis_count; ++i)
    result[i] = at[axes[i]];
  return result;
}

Extents wholeExtents(const Topology& partition) {
  Extents extents{};
  for (std::uint32_t i = 0; i < partition.axis_count; ++i)
    extents[i] = partition.axes[i].size;
  return extents;
}

bool isSubTorus(const Topology& partition, const Extents& extents) {
  bool several_nodes = false;
  for (std::uint32_t i = 0; i < kMaxAxes; ++i) {
    const bool exists = i < partition.axis_count;
    if (exists ? extents[i] < 1 || extents[i] > partition.axes[i].size : extents[i] != 0) {
      return false;
    }
    several_nodes |= exists && partition.axes[i].kind != AxisKind::kCore && extents[i] > 1;
  }
  return several_nodes;
}

SubTorusAxes canonicalAxes(const Topology& partition, const Extents& extents) {
  const auto key = [&](std::uint8_t i) {
    const Axis& axis = partition.axes[i];
    return std::tuple(axis.kind == AxisKind::kCore, -std::int64_t{extents[i]},
                      kindOf(axis, extents[i]), -axis.bandwidth, axis.latency, i);
  };
  SubTorusAxes axes{};
  std::uint32_t count = 0;
  for (std::uint8_t i = 0; i < partition.axis_count; ++i) {
    if (extents[i] <= 1) continue;
    std::uint32_t index = count++;
    for (; index > 0 && key(i) < key(axes[index - 1]); --index)
      axes[index] = axes[index - 1];
    axes[index] = i;
  }
  return axes;
}

Topology subTorusTopology(const Topology& partition, const Extents& extents,
                          const SubTorusAxes& axes) {
  Topology sub_torus;
  sub_torus.axis_count = axisCount(extents);
  for (std::uint32_t i = 0; i < sub_torus.axis_count; ++i) {
    const Axis& from = partition.axes[axes[i]];
    Axis& axis = sub_torus.axes[i];
    axis.size = extents[axes[i]];
    axis.kind = kindOf(from, axis.size);
    axis.name = axis.kind == AxisKind::kCore ? kCoreAxisName : kAxisNames[i];
    axis.bandwidth = from.bandwidth;
    axis.latency = from.latency;
    sub_torus.order[i] = static_cast<std::uint8_t>(i);
  }
  if (partition.isDamaged() && extents == wholeExtents(partition)) {
    addDamage(partition, axes, sub_torus);
  }
  return sub_torus;
}

}  // namespace torc
