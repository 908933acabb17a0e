#include "compiler/algorithms/scatter/root_colors.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <llvm/ADT/STLExtras.h>

namespace torc::compiler {
namespace {

/// The longest ring for which two colors are worthwhile, so that both arms carry equal loads.
constexpr std::uint32_t kShortRing = 16;

/// Bandwidth of an axis relative to the slowest axis of the network, at most 1024.
double relativeBandwidth(const Topology& topology, const Axis& axis) {
  double least = axis.bandwidth;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const Axis& other = topology.axes[i];
    if (other.size > 1 && other.kind != AxisKind::kCore) least = std::min(least, other.bandwidth);
  }
  return std::min(axis.bandwidth / least, 1024.0);
}

/// Relative capacity of an axis in one direction for each of two signs, in units of 1/64.
std::uint64_t weightOf(const Topology& topology, const Axis& axis) {
  return static_cast<std::uint64_t>(std::llround(64 * relativeBandwidth(topology, axis))) *
         (axis.hasOneCable() ? 1 : 2);
}

/// The axes of more than one node, from number `first` of the network's on, cyclically, then the
/// cores.
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

/// Axes on which colors leave the root: those of the network; without any, the cores of one node.
std::uint32_t starts(const Topology& topology) {
  std::uint32_t axes = 0;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const Axis& axis = topology.axes[i];
    axes += axis.size > 1 && axis.kind != AxisKind::kCore;
  }
  return std::max(axes, 1u);
}

/// Shares of a node's data along an axis from a corner, upwards and downwards; `sign` is the
/// direction for half of a ring.
std::array<double, 2> armsOf(const Axis& axis, int sign) {
  const double size = axis.size;
  if (!axis.wraps()) return {(size - 1) / size, 0};
  const double half = std::floor(size / 2) / size, rest = std::floor((size - 1) / 2) / size;
  return sign > 0 ? std::array{half, rest} : std::array{rest, half};
}

/// Weights of colors that balance the busiest links on which each color leaves the root: their
/// loads from all colors over their bandwidths are equal.
std::vector<double> balancedWeights(const Topology& topology, llvm::ArrayRef<WayOut> ways) {
  std::vector<double> weights(ways.size(), 1);
  for (int round = 0; round < 64; ++round) {
    std::array<std::array<double, 2>, kMaxAxes> seconds{};
    for (const auto& [weight, way] : llvm::zip(weights, ways)) {
      double left = weight;
      for (const std::uint32_t axis : way.order) {
        const Axis& of = topology.axes[axis];
        const auto [up, down] = armsOf(of, way.sign);
        seconds[axis][0] += left * up / relativeBandwidth(topology, of);
        seconds[axis][1] += left * down / relativeBandwidth(topology, of);
        left /= of.size;
      }
    }
    for (std::size_t i = 0; i < ways.size() && !ways[i].order.empty(); ++i) {
      const auto& [up, down] = seconds[ways[i].order.front()];
      weights[i] /= std::sqrt(std::max(up, down));
    }
  }
  return weights;
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
  std::vector<WayOut> ways;
  for (std::uint32_t i = 0; i < starts(topology); ++i) {
    const AxisOrder order = orderFrom(topology, i);
    Color color = colorOf(topology, order);
    color.weight = weightOf(topology, topology.axes[order.front()]);
    schedule.colors.insert(schedule.colors.end(), 2, color);
    ways.push_back({order, 1});
    ways.push_back({order, -1});
  }
  return ways;
}

WayOut addRootColor(Schedule& schedule) {
  const Topology& topology = schedule.topology;
  WayOut way{orderFrom(topology, 0)};
  llvm::stable_sort(way.order, [&](std::uint32_t a, std::uint32_t b) {
    const auto key = [&](std::uint32_t axis) {
      return std::pair(topology.axes[axis].kind == AxisKind::kCore, topology.axes[axis].size);
    };
    return key(a) < key(b);
  });
  schedule.colors = {colorOf(topology, way.order)};
  return way;
}

std::vector<WayOut> addCornerColors(Schedule& schedule) {
  const Topology& topology = schedule.topology;
  std::vector<WayOut> ways;
  for (std::uint32_t i = 0; i < starts(topology); ++i) {
    const AxisOrder order = orderFrom(topology, i);
    const Axis* first = order.empty() ? nullptr : &topology.axes[order.front()];
    const bool splits = first != nullptr && first->isRing() && first->size % 2 == 0 &&
                        first->size > 2 && first->size <= kShortRing;
    ways.push_back({order, 1});
    if (splits) ways.push_back({order, -1});
  }
  const std::vector<double> weights = balancedWeights(topology, ways);
  const double least = *std::ranges::min_element(weights);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    Color color = colorOf(topology, ways[i].order);
    color.weight = static_cast<std::uint64_t>(std::llround(64 * weights[i] / least));
    schedule.colors.push_back(color);
  }
  return ways;
}

}  // namespace torc::compiler
