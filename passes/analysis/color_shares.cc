// Computes equal and balanced shares of colors.
#include "passes/analysis/color_shares.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include "passes/analysis/plan_axes.h"

namespace torc::passes {
namespace {

using AxisList = llvm::SmallVector<std::uint32_t, kMaxAxes>;

/// A capacity as a fraction of small integers.
struct Fraction {
  std::int64_t numerator, denominator;
};

constexpr std::int64_t kMaxDenominator = 10000;
// Bound of weights and intermediate values; their sums are below 2^63.
constexpr std::int64_t kMaxWeight = std::int64_t{1} << 58;
// Weights without a closed form are multiples of this.
constexpr double kWeightUnit = 1.0 / static_cast<double>(std::uint64_t{1} << 40);

/// The fraction of smallest denominator that equals `value` up to rounding (continued fractions).
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

/// The weights of the closed form for this arrangement of the axes, as integers; std::nullopt if
/// one is negative, or numbers become too large.
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

/// Data that a color of weight 1 sends over each axis, in both directions together.
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

/// The sum of `values` over the axes in `set`, one bit per axis.
double sumOver(std::uint32_t set, const std::array<double, kMaxAxes>& values) {
  double sum = 0;
  for (std::uint32_t axis = 0; axis < kMaxAxes; ++axis)
    sum += set >> axis & 1 ? values[axis] : 0;
  return sum;
}

/// Shares without a closed form. Colors have at least g(S) = 1 / prod_{i not in S} d_i - 1 / p for
/// the axes of a set S, reached by those that visit S last. As g is supermodular, loads within
/// given ones exist if no set S is given less than g(S) (J. Edmonds, "Submodular functions,
/// matroids, and certain polyhedra", 1970).
std::vector<ColorShare> bySupermodularity(const Topology& topology, Halves halves,
                                          const AxisList& axes) {
  std::array<double, kMaxAxes> given{};
  std::uint32_t all = 0;
  for (const std::uint32_t axis : axes) {
    given[axis] = capacityOf(topology, axis, halves);
    all |= 1u << axis;
  }
  const auto least = [&](std::uint32_t set) {  // g
    double inside = 1, outside = 1;
    for (const std::uint32_t axis : axes)
      (set >> axis & 1 ? inside : outside) /= topology.axes[axis].size;
    return outside * (1 - inside);
  };
  double slowest = 0;  // T*
  for (std::uint32_t set = all; set != 0; set = (set - 1) & all)
    slowest = std::max(slowest, least(set) / sumOver(set, given));
  for (double& each : given)
    each *= slowest;
  // Each order gets as much as the others can spare. Then one more set has exactly its minimum, and
  // the later orders visit it last; there are at most as many orders as axes, as such sets are
  // nested.
  std::vector<ColorShare> shares;
  AxisList order = axes;
  double left = 1;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto load = loads(topology, order);
    double share = left;
    std::uint32_t last = 0;
    for (std::uint32_t set = all; set != 0; set = (set - 1) & all) {
      const double more = sumOver(set, load) - least(set);
      const double spare = std::max(sumOver(set, given) - left * least(set), 0.0);
      if (more <= kWeightUnit || spare / more >= share) continue;
      share = spare / more;
      last = set;
    }
    const double weight = std::round(share / kWeightUnit);
    if (weight >= 1) shares.push_back({order, static_cast<std::uint64_t>(weight)});
    left -= share;
    for (const std::uint32_t axis : axes)
      given[axis] -= share * load[axis];
    std::stable_partition(order.begin(), order.end(),
                          [&](std::uint32_t axis) { return !(last >> axis & 1); });
  }
  return shares;
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
  // All rotations of an arrangement are equivalent: the first axis may stay.
  AxisList arrangement = axes;
  do {
    if (const auto weights = closedForm(topology, halves, arrangement)) {
      return rotations(arrangement, *weights);
    }
  } while (std::next_permutation(arrangement.begin() + 1, arrangement.end()));
  return bySupermodularity(topology, halves, axes);
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
