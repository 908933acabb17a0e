#include "compiler/algorithms/scatter/root_colors.h"

#include <algorithm>
#include <cmath>

#include <llvm/ADT/STLExtras.h>

namespace torc::compiler {
namespace {

/// Links of an axis in one direction for each of two signs, relative to others: 1/64.
std::uint64_t weightOf(const Topology& topology, const Axis& axis) {
  double least = axis.bandwidth;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const Axis& other = topology.axes[i];
    if (other.size > 1 && other.kind != AxisKind::kCore) least = std::min(least, other.bandwidth);
  }
  const double ratio = std::min(axis.bandwidth / least, 1024.0);
  return static_cast<std::uint64_t>(std::llround(64 * ratio)) * (axis.hasOneCable() ? 1 : 2);
}

/// The axes of more than one node from number `first` of the network's on, around, and the cores.
AxisOrder orderFrom(const Topology& topology, std::uint32_t first) {
  AxisOrder network, cores;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const Axis& axis = topology.axes[i];
    if (axis.size > 1) (axis.kind == AxisKind::kCore ? cores : network).push_back(i);
  }
  if (!network.empty()) {
    std::rotate(network.begin(), network.begin() + first % network.size(), network.end());
  }
  network.append(cores.begin(), cores.end());
  return network;
}

}  // namespace

Color colorOf(const Topology& topology, llvm::ArrayRef<std::uint32_t> order) {
  Color color;
  color.axis_count = topology.axis_count;
  std::uint32_t next = 0;
  for (const std::uint32_t axis : order)
    color.order[next++] = static_cast<std::uint8_t>(axis);
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (!llvm::is_contained(order, i)) color.order[next++] = static_cast<std::uint8_t>(i);
  }
  return color;
}

std::vector<WayOut> addRootColors(Schedule& schedule) {
  const Topology& topology = schedule.topology;
  std::uint32_t starts = 0;  // axes on which colors leave the root
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const Axis& axis = topology.axes[i];
    starts += axis.size > 1 && axis.kind != AxisKind::kCore;
  }
  starts = std::max(starts, 1u);  // else the cores of one node
  std::vector<WayOut> ways;
  for (std::uint32_t i = 0; i < starts; ++i) {
    const AxisOrder order = orderFrom(topology, i);
    Color color = colorOf(topology, order);
    color.weight = weightOf(topology, topology.axes[order.front()]);
    schedule.colors.insert(schedule.colors.end(), 2, color);
    ways.push_back({order, 1});
    ways.push_back({order, -1});
  }
  return ways;
}

}  // namespace torc::compiler
