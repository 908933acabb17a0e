// Equal and balanced shares of colors.
#include "passes/analysis/color_shares.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include <llvm/ADT/STLExtras.h>

#include "passes/analysis/plan_axes.h"

namespace torc::passes {
namespace {

using AxisList = llvm::SmallVector<std::uint32_t, kMaxAxes>;

/// A capacity as a fraction of small integers.
struct Fraction {
  std::int64_t numerator, denominator;
};

constexpr std::int64_t kMaxDenominator = 10000;
// Weights and what they are computed from stay below this, and their sums below 2^63.
constexpr std::int64_t kMaxWeight = std::int64_t{1} << 58;
// Weights without a closed form are multiples of this.
constexpr double kWeightUnit = 1.0 / static_cast<double>(std::uint64_t{1} << 40);

/// The fraction of smallest denominator that is `value` to the last digits (continued fractions).
std::optional<Fraction> asFraction(double value) {
  std::int64_t before = 0, numerator = 1, denominator_before = 1, denominator = 0;
  double rest = value;
  for (int i = 0; i < 40 && rest < 1e9; ++i) {
    const auto whole = static_cast<std::int64_t>(std::floor(rest));
    std::tie(before, numerator) = std::pair(numerator, whole * numerator + before);
    std::tie(denominator_before, denominator) =
        std::pair(denominator, whole * denominator + denominator_before);
    if (denominator > kMaxDenominator || numerator > std::int64_t{1} << 30) return std::nullopt;
    const double error = static_cast<double>(numerator) - value * static_cast<double>(denominator);
    if (std::abs(error) <= 1e-13 * static_cast<double>(numerator)) {
      return Fraction{numerator, denominator};
    }
    rest = 1 / (rest - static_cast<double>(whole));
  }
  return std::nullopt;
}

/// Rotations of `axes` with the given weights; those of weight 0 are left out.
std::vector<ColorShare> rotations(const AxisList& axes, llvm::ArrayRef<std::uint64_t> weights) {
  std::vector<ColorShare> shares;
  for (std::size_t j = 0; j < axes.size(); ++j) {
    if (weights[j] == 0) continue;
    ColorShare& share = shares.emplace_back();
    share.weight = weights[j];
    for (std::size_t i = 0; i < axes.size(); ++i)
      share.axes.push_back(axes[(j + i) % axes.size()]);
  }
  return shares;
}

/// The weights of the closed form for this arrangement of the axes, as integers; none where one is
/// negative, or numbers become too large.
std::optional<std::vector<std::uint64_t>> closedForm(const Topology& topology, Halves halves,
                                                     const AxisList& axes) {
  std::vector<Fraction> capacities;
  std::int64_t common = 1;
  for (const std::uint32_t axis : axes) {
    const std::optional<Fraction> capacity = asFraction(capacityOf(topology, axis, halves));
    if (!capacity) return std::nullopt;
    capacities.push_back(*capacity);
    const std::int64_t own = capacity->denominator * (std::int64_t{topology.axes[axis].size} - 1);
    if (common / std::gcd(common, own) > kMaxWeight / own) return std::nullopt;
    common = std::lcm(common, own);
  }
  // c / (d - 1) in units of 1 / common.
  auto unit = [&](std::size_t i) -> __int128 {
    const auto size = std::int64_t{topology.axes[axes[i]].size};
    return static_cast<__int128>(capacities[i].numerator) *
           (common / (capacities[i].denominator * (size - 1)));
  };
  std::vector<std::uint64_t> weights;
  std::int64_t divisor = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t before = (i + axes.size() - 1) % axes.size();
    const __int128 weight = unit(i) * topology.axes[axes[i]].size - unit(before);
    if (weight < 0 || weight > kMaxWeight) return std::nullopt;
    weights.push_back(static_cast<std::uint64_t>(weight));
    divisor = std::gcd(divisor, static_cast<std::int64_t>(weight));
  }
  for (std::uint64_t& weight : weights)
    weight /= static_cast<std::uint64_t>(divisor);
  return weights;
}

/// What a color of weight 1 sends over each axis, in both directions together.
std::array<double, kMaxAxes> loads(const Topology& topology, llvm::ArrayRef<std::uint32_t> order) {
  std::array<double, kMaxAxes> load{};
  double left = 1;
  for (const std::uint32_t axis : order) {
    const double size = topology.axes[axis].size;
    load[axis] = left * (size - 1) / size;
    left /= size;
  }
  return load;
}

/// The sum of `values` over the axes in `set`, a bit an axis.
double sumOver(std::uint32_t set, const std::array<double, kMaxAxes>& values) {
  double sum = 0;
  for (std::uint32_t axis = 0; axis < kMaxAxes; ++axis)
    sum += set >> axis & 1 ? values[axis] : 0;
  return sum;
}

/// Shares for which no closed form is right. Colors that visit the axes of a set S first send at
/// most f(S) = 1 - 1 / prod_{i in S} d_i over them, in whatever order; f is submodular, so that the
/// loads that some shares have are its base polytope, whose vertices are the loads of single orders
/// (J. Edmonds, "Submodular functions, matroids, and certain polyhedra", 1970).
std::vector<ColorShare> bySubmodularity(const Topology& topology, Halves halves,
                                        const AxisList& axes) {
  std::array<double, kMaxAxes> capacity{}, load{};
  std::uint32_t rest = 0;
  for (const std::uint32_t axis : axes) {
    capacity[axis] = capacityOf(topology, axis, halves);
    rest |= 1u << axis;
  }
  const auto most = [&](std::uint32_t set) {  // f
    double left = 1;
    for (const std::uint32_t axis : axes)
      left /= set >> axis & 1 ? topology.axes[axis].size : 1;
    return 1 - left;
  };
  // Colors visit the axes of a set before those of the next one. The last set is the bottleneck,
  // whose axes are all busy for T*; without it the same is true of the set before.
  llvm::SmallVector<std::uint32_t, kMaxAxes> sets;
  while (rest != 0) {
    std::uint32_t bottleneck = 0;
    double slowest = 0;
    for (std::uint32_t set = rest; set != 0; set = (set - 1) & rest) {
      const double time = (most(rest) - most(rest & ~set)) / sumOver(set, capacity);
      if (time > slowest) std::tie(slowest, bottleneck) = std::pair(time, set);
    }
    for (const std::uint32_t axis : axes) {
      if (bottleneck >> axis & 1) load[axis] = slowest * capacity[axis];
    }
    sets.insert(sets.begin(), bottleneck);
    rest &= ~bottleneck;
  }
  // Takes an order, and goes on from where the line from its vertex through the loads leaves the
  // polytope: there a set is cut in two, the first of which has all that it can have.
  std::vector<ColorShare> shares;
  for (double left = 1;;) {
    AxisList order;
    for (const std::uint32_t set : sets)
      llvm::copy_if(axes, std::back_inserter(order), [&](auto axis) { return set >> axis & 1; });
    const auto vertex = loads(topology, order);
    double length = std::numeric_limits<double>::infinity();  // in units of that to the vertex
    std::size_t cut = 0;
    std::uint32_t first = 0, before = 0;
    for (std::size_t i = 0; i < sets.size(); before |= sets[i++]) {
      for (std::uint32_t set = (sets[i] - 1) & sets[i]; set != 0; set = (set - 1) & sets[i]) {
        const double ahead = sumOver(set, load) - sumOver(set, vertex);
        const double room = most(before | set) - most(before) - sumOver(set, load);
        if (ahead <= 0 || std::max(room, 0.0) / ahead >= length) continue;
        length = std::max(room, 0.0) / ahead;
        std::tie(cut, first) = std::pair(i, set);
      }
    }
    const double weight = std::round(left * (1 - 1 / (1 + length)) / kWeightUnit);
    if (weight >= 1) shares.push_back({order, static_cast<std::uint64_t>(weight)});
    if (std::isinf(length)) return shares;
    left /= 1 + length;
    for (const std::uint32_t axis : axes)
      load[axis] += length * (load[axis] - vertex[axis]);
    sets.insert(sets.begin() + cut + 1, sets[cut] & ~first);
    sets[cut] = first;
  }
}

}  // namespace

std::vector<ColorShare> equalShares(const Topology& topology) {
  const AxisList axes = networkAxes(topology);
  if (axes.empty()) return {ColorShare{}};
  return rotations(axes, std::vector<std::uint64_t>(axes.size(), 1));
}

double capacityOf(const Topology& topology, std::uint32_t axis, Halves halves) {
  if (halves == Halves::kApart || !topology.isLine(axis)) return topology.capacity(axis);
  const Axis& line = topology.axes[axis];
  return line.bandwidth * (line.size - 1) / line.size;
}

std::vector<ColorShare> balancedShares(const Topology& topology, Halves halves) {
  const AxisList axes = networkAxes(topology);
  if (axes.size() <= 1) return equalShares(topology);
  // Rotations of an arrangement are those of any of its rotations: the first axis may stay.
  AxisList arrangement = axes;
  do {
    if (const auto weights = closedForm(topology, halves, arrangement)) {
      return rotations(arrangement, *weights);
    }
  } while (std::next_permutation(arrangement.begin() + 1, arrangement.end()));
  return bySubmodularity(topology, halves, axes);
}

double largestLoad(const Topology& topology, Halves halves, llvm::ArrayRef<ColorShare> shares) {
  double sum = 0;
  std::array<double, kMaxAxes> total{};
  for (const ColorShare& share : shares) {
    const auto weight = static_cast<double>(share.weight);
    sum += weight;
    const auto load = loads(topology, share.axes);
    for (const std::uint32_t axis : share.axes)
      total[axis] += weight * load[axis];
  }
  double largest = 0;
  for (const std::uint32_t axis : networkAxes(topology)) {
    largest = std::max(largest, total[axis] / sum / capacityOf(topology, axis, halves));
  }
  return largest;
}

}  // namespace torc::passes
