// The costs of dense linear algebra against the 2.5D paper's numbers, and against sums by hand.
#include "studies/dense/dense_cost.h"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "tests/studies/partition.h"

namespace torc::studies {
namespace {

DenseJob jobOn(const model::Machine& machine, double n, const DenseGrid& grid, LineTrees trees) {
  DenseJob job;
  job.size = n;
  job.flop_rate = flopRateOf(machine);
  job.grid = grid;
  job.trees = trees;
  return job;
}

TEST(DenseCost, FlopRatesOfThePaper) {
  EXPECT_NEAR(flopRateOf(partition("bgp", "8x8x8")), 13.6e9, 0.05e9);
  EXPECT_NEAR(flopRateOf(partition("exascale-2.5d", "")) * 262144, 1e18, 1e15);
}

// Section 5.3: block-sized messages, line collectives as fast as those of 64 nodes, shifts on one
// link. Paper: 95, 87 and 80 % on the whole machine.
TEST(DenseCost, Figure13a) {
  const struct {
    int z;
    double plane, binomial, rectangular;
  } golden[] = {{1, 0.973, 0.973, 0.973},
                {4, 0.947, 0.965, 0.972},
                {16, 0.899, 0.944, 0.968},
                {64, 0.817, 0.867, 0.953}};
  const double n = std::exp2(22);
  for (const auto& each : golden) {
    const model::Machine machine = partition("exascale-2.5d", "64x64x" + std::to_string(each.z));
    const auto efficiency = [&](const DenseGrid& grid, LineTrees trees) {
      DenseJob job = jobOn(machine, n, grid, trees);
      job.line_nodes = 64;
      return gemmCost(machine, job, GemmRounds::kShifts).efficiency();
    };
    EXPECT_NEAR(efficiency(squareGrid(machine.nodes()), LineTrees::kBinomial), each.plane, 6e-4);
    EXPECT_NEAR(efficiency(gridOf(machine), LineTrees::kBinomial), each.binomial, 6e-4);
    EXPECT_NEAR(efficiency(gridOf(machine), LineTrees::kRectangular), each.rectangular, 6e-4);
  }
}

// 2x2 blocks in two layers, on rings of two (trees 2, links 2): one round of blocks of half the
// width.
TEST(DenseCost, SumsOfMultiplication) {
  const model::Machine machine = partition("bgp", "2x2x2");
  const DenseJob job = jobOn(machine, 1000, gridOf(machine), LineTrees::kRectangular);
  const DenseCost cost = gemmCost(machine, job, GemmRounds::kMulticasts);
  EXPECT_DOUBLE_EQ(cost.bytes(), 8 * (3 * 500 * 500 + 2 * 500 * 500));
  EXPECT_DOUBLE_EQ(cost.messages(), 2 + 1 + 2);
  // 2e9 operations over 8 nodes.
  EXPECT_NEAR(cost.compute_s, 2e9 / 8 / job.flop_rate, 1e-12);
  // Eq. 6 with d = 1: m g / 2 + 4 o + 3 L + 2 (2 o + L), for five messages of 2 MB.
  const double each = 2e6 / 375e6 / 2 + 4 * 0.4e-6 + 3 * 0.8e-6 + 2 * 1.6e-6;
  EXPECT_NEAR(cost.communicate_s(), 5 * each, 1e-8);
}

// On one layer L travels with the diagonal block, U without it.
TEST(DenseCost, WordsOfLuOnOneLayer) {
  const model::Machine machine = partition("bgp", "8x8");
  const DenseJob job = jobOn(machine, 4096, gridOf(machine), LineTrees::kBinomial);
  const DenseCost cost = luCost(machine, job, {64}, false);
  double words = 0;
  for (const DenseItem& item : cost.items) {
    if (item.what.find("multicasts") != std::string::npos) words += item.bytes / 8;
  }
  const double panels = 4096 / 64;
  EXPECT_DOUBLE_EQ(words, 64.0 * 64 * panels * panels / 8);
  // A pivoted one does that, and more.
  EXPECT_GT(luCost(machine, job, {64}, true).communicate_s(), cost.communicate_s());
}

// Eq. 1: n^2 / sqrt(c P), but for a constant, for all partitions, with the paper's two widths.
TEST(DenseCost, WordsOfLuAreWithinAConstantOfTheBound) {
  constexpr double n = 1 << 20;
  for (const char* shape : {"4x4x4", "16x16x4", "8x8x8", "16x16x16", "64x64x16", "64x64x64"}) {
    SCOPED_TRACE(shape);
    const model::Machine machine = partition("bgp", shape);
    const DenseJob job = jobOn(machine, n, gridOf(machine), LineTrees::kRectangular);
    const double bound = n * n / std::sqrt(job.grid.layers * job.grid.nodes());
    const LuWidths widths = paperWidths(job);
    const double plain = luCost(machine, job, widths, false).bytes() / 8 / bound;
    const double pivoted = luCost(machine, job, widths, true).bytes() / 8 / bound;
    EXPECT_GT(plain, 2);
    EXPECT_LT(plain, 10);
    EXPECT_LT(pivoted, 13);
  }
}

// 16,384 nodes, n = 131,072: the paper's communication is 95.6 % less for multiplication, 81.9 %
// for LU; the models see no contention of the 2-D algorithms.
TEST(DenseCost, CommunicationThatIsGone) {
  const model::Machine machine = partition("bgp", "32x32x16");
  const DenseJob plane = jobOn(machine, 131072, squareGrid(machine.nodes()), LineTrees::kBinomial);
  const DenseJob layers = jobOn(machine, 131072, gridOf(machine), LineTrees::kRectangular);
  const double gemm = gemmCost(machine, layers, GemmRounds::kMulticasts).communicate_s() /
                      gemmCost(machine, plane, GemmRounds::kMulticasts).communicate_s();
  EXPECT_NEAR(1 - gemm, 0.956, 0.03);
  const double lu = luCost(machine, layers, {}, false).communicate_s() /
                    luCost(machine, plane, {}, false).communicate_s();
  EXPECT_NEAR(1 - lu, 0.819, 0.02);
}

// A panel that is given is never faster than the one of least time, and one node sends nothing.
TEST(DenseCost, Panels) {
  const model::Machine machine = partition("bgp", "4x4x4");
  const DenseJob job = jobOn(machine, 1000, gridOf(machine), LineTrees::kRectangular);
  const double least = luCost(machine, job, {}, true).communicate_s();
  for (const double panel : {250.0, 125.0, 62.5})
    EXPECT_LE(least, luCost(machine, job, {panel}, true).communicate_s());
  const DenseJob alone = jobOn(machine, 1000, {1, 1, 1}, LineTrees::kBinomial);
  EXPECT_EQ(luCost(machine, alone, {}, true).communicate_s(), 0);
  EXPECT_EQ(gemmCost(machine, alone, GemmRounds::kMulticasts).communicate_s(), 0);
}

}  // namespace
}  // namespace torc::studies
