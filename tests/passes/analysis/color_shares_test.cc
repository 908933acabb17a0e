// Shares of colors against the lower bound: exactly, in integers, for equal links; otherwise by the
// cut formula.
#include "passes/analysis/color_shares.h"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "tests/equal_weight_loads.h"

namespace torc::passes {
namespace {

/// T* (docs/research/bounds.md) in vectors over a ring's bandwidth: the largest cut.
double optimum(const Topology& topology) {
  std::vector<const Axis*> axes;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (topology.axes[i].size > 1 && topology.axes[i].kind != AxisKind::kCore) {
      axes.push_back(&topology.axes[i]);
    }
  }
  double nodes = 1, best = 0;
  for (const Axis* axis : axes)
    nodes *= axis->size;
  for (std::uint32_t inside = 0; inside + 1 < 1u << axes.size(); ++inside) {
    double members = 1, capacity = 0;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (inside >> i & 1) {
        members *= axes[i]->size;
      } else {
        capacity += axes[i]->capacity();
      }
    }
    best = std::max(best, (1 / members - 1 / nodes) / capacity);
  }
  return best;
}

Topology topologyOf(std::string_view shape, std::vector<double> bandwidths = {}) {
  Topology topology = *parseTopology(shape);
  for (std::size_t i = 0; i < bandwidths.size(); ++i)
    topology.axes[i].bandwidth = bandwidths[i];
  return topology;
}

std::vector<ColorShare> balanced(const Topology& topology) {
  return balancedShares(topology, Halves::kApart);
}

std::vector<std::uint64_t> weightsOf(const std::vector<ColorShare>& shares) {
  std::vector<std::uint64_t> weights;
  for (const ColorShare& share : shares)
    weights.push_back(share.weight);
  return weights;
}

TEST(ColorShares, EqualWeightsPayOnAsymmetricTori) {
  const Topology cube = topologyOf("8x8x8");
  EXPECT_NEAR(largestLoad(cube, Halves::kApart, equalShares(cube)) / optimum(cube), 1.0, 1e-12);
  for (const auto& [shape, ratio] : kEqualWeightLoads) {
    const Topology topology = topologyOf(shape);
    EXPECT_NEAR(largestLoad(topology, Halves::kApart, equalShares(topology)) / optimum(topology),
                ratio, 5e-4)
        << shape;
  }
}

TEST(ColorShares, ClosedFormOfKnownShapes) {
  // w_i = (1/N)[1 + 1/(d_i - 1) - 1/(d_{i-1} - 1)]: 1/9, 1/3, 5/9.
  EXPECT_EQ(weightsOf(balanced(topologyOf("4x4x2"))), (std::vector<std::uint64_t>{1, 3, 5}));
  EXPECT_EQ(weightsOf(balanced(topologyOf("8x2"))), (std::vector<std::uint64_t>{1, 13}));
  EXPECT_EQ(weightsOf(balanced(topologyOf("8x8x8"))), (std::vector<std::uint64_t>{1, 1, 1}));
  EXPECT_EQ(weightsOf(balanced(topologyOf("5"))), (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(weightsOf(balanced(topologyOf("1x1"))), (std::vector<std::uint64_t>{1}));
  // Axes of one node and cores count for nothing.
  EXPECT_EQ(weightsOf(balanced(topologyOf("4x1x4x2+4"))), (std::vector<std::uint64_t>{1, 3, 5}));
}

// Computed apart from the project, by a linear program over all orders.
TEST(ColorShares, UnequalLinksAndMeshes) {
  for (const auto& [topology, expected] : {std::pair{topologyOf("4x4x4", {1, 1, 0.5}), 0.39375},
                                           {topologyOf("2mx4x4"), 0.3875},
                                           {topologyOf("4x4x8x2m"), 0.284598},
                                           {topologyOf("8x8x8m"), 0.399219},
                                           {topologyOf("8mx8mx8m"), 0.665365},
                                           {topologyOf("2mx3x2mx8x8x8m"), 0.222186},
                                           {topologyOf("2mx2m"), 0.75},
                                           {topologyOf("2x32", {1, 0.25}), 1.9375}}) {
    EXPECT_NEAR(optimum(topology), expected, 1e-6) << topology.shape();
    EXPECT_NEAR(largestLoad(topology, Halves::kApart, balanced(topology)), optimum(topology), 1e-9)
        << topology.shape();
  }
}

// The lower bound (p-1)/(pN) is met on every link, in exact arithmetic.
RC_GTEST_PROP(ColorShares, EveryLinkCarriesExactlyTheBoundWhereLinksAreEqual, ()) {
  const auto sizes = *rc::gen::resize(
      5,
      rc::gen::suchThat(rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange(2u, 41u)),
                        [](const auto& sizes) { return sizes.size() >= 2 && sizes.size() <= 6; }));
  std::string shape;
  for (const std::uint32_t size : sizes)
    shape += (shape.empty() ? "" : "x") + std::to_string(size);
  const StatusOr<Topology> topology = parseTopology(shape);
  RC_PRE(topology.ok());
  const std::vector<ColorShare> shares = balanced(*topology);
  const auto nodes = static_cast<__int128>(topology->ranks());
  std::vector<__int128> load(sizes.size());  // of the sum of weights, times nodes
  __int128 sum = 0;
  for (const ColorShare& share : shares) {
    sum += share.weight;
    __int128 left = nodes;
    for (const std::uint32_t axis : share.axes) {
      left /= sizes[axis];
      load[axis] += static_cast<__int128>(share.weight) * left * (sizes[axis] - 1);
    }
  }
  for (const __int128 each : load)
    RC_ASSERT(each * static_cast<__int128>(sizes.size()) == sum * (nodes - 1));
}

// The cut formula is the minimum over all shares of all orders, which is met with and without a
// closed form.
RC_GTEST_PROP(ColorShares, MeetTheCutBoundOnAnyMixOfAxes, ()) {
  const auto count = *rc::gen::inRange(1, 6);
  std::string shape;
  std::vector<double> bandwidths;
  for (int i = 0; i < count; ++i) {
    shape += (i > 0 ? "x" : "") + std::to_string(*rc::gen::element(1, 2, 2, 3, 4, 6, 8, 12, 32));
    if (*rc::gen::element(false, false, true)) shape += "m";
    bandwidths.push_back(*rc::gen::element(0.25, 1.0, 1.0, 2.0, 1.0 / 3, 0.7));
  }
  const Topology topology = topologyOf(shape, bandwidths);
  RC_PRE(topology.ranks() > 1);
  const std::vector<ColorShare> shares = balanced(topology);
  RC_ASSERT(shares.size() <= static_cast<std::size_t>(count));
  RC_ASSERT(std::abs(largestLoad(topology, Halves::kApart, shares) / optimum(topology) - 1) < 1e-8);
}

// 63/176 on 4x4x4m: 63 messages of every block over the cables of 64 nodes, twice, in two
// directions.
TEST(ColorShares, OverlappedHalvesLoadLinesByTheirCables) {
  for (const auto& [shape, nodes, cables] : {std::tuple{"4x4x4m", 64, 176},
                                             {"8x8x8m", 512, 1472},
                                             {"6x5m", 30, 54},
                                             {"4mx4m", 16, 24},
                                             {"3mx5mx7m", 105, 70 + 84 + 90},
                                             {"2x7m", 14, 14 + 12}}) {
    const Topology topology = topologyOf(shape);
    const auto shares = balancedShares(topology, Halves::kOverlapped);
    EXPECT_NEAR(largestLoad(topology, Halves::kOverlapped, shares), (nodes - 1.0) / cables, 1e-12)
        << shape;
  }
  // A ring that is cut is a line.
  Topology cut = topologyOf("4x4x4");
  ASSERT_TRUE(cut.addDeadLink(*parseDeadLink(cut, "0,0,1:Z")).ok());
  EXPECT_DOUBLE_EQ(capacityOf(cut, 2, Halves::kOverlapped), 0.75);
  EXPECT_DOUBLE_EQ(capacityOf(cut, 2, Halves::kApart), 0.5);
  EXPECT_DOUBLE_EQ(capacityOf(cut, 0, Halves::kOverlapped), 1);
}

}  // namespace
}  // namespace torc::passes
