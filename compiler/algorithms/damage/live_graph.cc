#include "compiler/algorithms/damage/live_graph.h"

#include <limits>

namespace torc::compiler {

Box boxOf(const Topology& topology, std::uint32_t node) {
  const Coordinates at = topology.coordinatesOf(static_cast<std::int32_t>(node));
  Box box;
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    if (topology.axes[axis].size > 1) box[axis] = Interval::absolute(at[axis]);
  }
  return box;
}

LiveGraph::LiveGraph(const Topology& topology) : arcs_of_(topology.ranks()) {
  for (std::uint32_t node = 0; node < nodes(); ++node) {
    const Coordinates at = topology.coordinatesOf(static_cast<std::int32_t>(node));
    for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
      const Axis& line = topology.axes[axis];
      const bool network = line.kind != AxisKind::kCore;
      Coordinates to = at;
      if (network) {
        if (!topology.hasLink(at, axis, 1, to)) continue;
      } else if (++to[axis] == static_cast<std::int32_t>(line.size)) {
        continue;
      }
      const auto other = static_cast<std::uint32_t>(topology.rankOf(to));
      const std::uint32_t cable = cables();
      arcs_of_[node].push_back(2 * cable);
      arcs_of_[other].push_back(2 * cable + 1);
      arcs_.push_back({node, other, axis, 1, cable, network, line.bandwidth});
      arcs_.push_back({other, node, axis, -1, cable, network, line.bandwidth});
    }
  }
}

std::vector<std::uint32_t> LiveGraph::distancesFrom(std::uint32_t node) const {
  constexpr std::uint32_t kFar = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> distance(nodes(), kFar);
  std::vector<std::uint32_t> queue{node};
  distance[node] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const std::uint32_t arc : arcs_of_[queue[i]]) {
      const std::uint32_t to = arcs_[arc].to;
      if (distance[to] != kFar) continue;
      distance[to] = distance[queue[i]] + 1;
      queue.push_back(to);
    }
  }
  return distance;
}

}  // namespace torc::compiler
