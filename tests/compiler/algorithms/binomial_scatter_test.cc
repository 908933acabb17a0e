// Scatter and gather along binomial trees: proved and run on every kind of shape, for every root;
// as many rounds as they say, and no detour; programs that do not grow with the number of nodes;
// what is chosen for short vectors.
#include "compiler/algorithms/scatter/binomial_scatter.h"

#include <bit>
#include <string>
#include <tuple>

#include <gtest/gtest.h>
#include <llvm/Support/Error.h>

#include "compiler/algorithms/algorithm.h"
#include "compiler/algorithms/binomial/binomial.h"
#include "compiler/algorithms/scatter/linear.h"
#include "compiler/choice/choice.h"
#include "compiler/target.h"
#include "ir/counted/counted_proof.h"
#include "ir/verifier/verifier.h"
#include "model/simulator/simulator.h"
#include "tests/compiler/algorithms/rooted_checks.h"

namespace torc::compiler {
namespace {

constexpr Collective kBoth[] = {Collective::kScatter, Collective::kGather};
constexpr const char* kBinomials[] = {"binomial", "rotated-binomial"};
constexpr const char* kAll[] = {"binomial", "rotated-binomial", "linear"};

class BinomialScatter
    : public testing::TestWithParam<std::tuple<const char*, Collective, const char*>> {};

TEST_P(BinomialScatter, IsProvedAndRunsForEveryRoot) {
  const auto& [algorithm, collective, shape] = GetParam();
  for (const std::uint32_t chunks : {1u, 2u}) {
    const Schedule schedule =
        compiledInSegments(algorithm, collective, *parseTopology(shape), chunks);
    expectProofAndRunsOfBlocks(schedule.view());
  }
}

TEST_P(BinomialScatter, IsProvedForACount) {
  const auto& [algorithm, collective, shape] = GetParam();
  const Schedule schedule = compiledInSegments(algorithm, collective, *parseTopology(shape), 1);
  const StatusOr<ir::CountedResult> result = ir::proveCounted(schedule.view(), 3);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->fault, "");
}

INSTANTIATE_TEST_SUITE_P(Shapes, BinomialScatter,
                         testing::Combine(testing::ValuesIn(kAll), testing::ValuesIn(kBoth),
                                          testing::Values("1", "2", "2m", "3", "7", "8", "2x2",
                                                          "4x3", "2x5+3", "3x1x4", "5x3x4", "1+3",
                                                          "2mx4", "2x2x2x2", "3x2x2x2x2")));

/// sum of ceil(log2(d)) and of floor(d / 2) over the axes of the network.
struct Distance {
  std::uint32_t rounds = 0, hops = 0;
};
Distance distanceOn(const Topology& topology) {
  Distance sum;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    sum.rounds += static_cast<std::uint32_t>(std::bit_width(topology.axes[i].size - 1));
    sum.hops += topology.axes[i].size / 2;
  }
  return sum;
}

// Where only start-ups cost time it takes no more than the rounds, less where both arms of a ring
// are short; where only hops do, the distance of the farthest node.
TEST(BinomialScatters, TakeTheLogarithmOfRoundsAndMakeNoDetour) {
  for (const Collective collective : kBoth) {
    for (const char* algorithm : kBinomials) {
      for (const char* shape : {"2x2", "5x3x4", "8x8x8", "16x4", "64x2", "3x3x2x2x2", "9"}) {
        const Topology topology = *parseTopology(shape);
        const Schedule schedule = compiledInSegments(algorithm, collective, topology, 1);
        model::Machine machine =
            cantFail(model::partitionOf(cantFail(model::findMachine("generic")), shape));
        for (auto& dimension : machine.dimensions)
          dimension.bandwidth = 1e18;
        model::SimulateOptions options;
        options.bytes = 1;
        const auto& [rounds, hops] = distanceOn(topology);
        EXPECT_EQ(schedule.operations.back().phase + 1u, rounds);
        const auto seconds = [&] {
          return cantFail(model::simulate(schedule.view(), machine, options)).makespan_s;
        };
        EXPECT_LT(seconds(), rounds * machine.alpha + 1e-12) << shape;
        machine.alpha = 0;
        for (auto& dimension : machine.dimensions)
          dimension.latency = 1e-6;
        EXPECT_NEAR(seconds(), hops * 1e-6, 1e-12) << shape;
      }
    }
  }
}

TEST(BinomialScatters, HaveProgramsThatDoNotGrowWithTheNumberOfNodes) {
  for (const Collective collective : kBoth) {
    const auto proved = [&](const char* algorithm, const char* shape) {
      const Schedule schedule = compiledInSegments(algorithm, collective, *parseTopology(shape), 1);
      const ir::VerifyResult proof = ir::verify(schedule.view());
      EXPECT_TRUE(proof.ok()) << shape << ": " << proof.faults.front().message;
      return schedule.operations.size();
    };
    // Along an axis of d nodes there are d - 1 messages, each with a send and a receive. Those of
    // the root's coordinate, log2(d), are sent once more for each axis before. On the last axis
    // every second of the others copies its own block; so do those at its root's coordinate, by
    // axis, and the root.
    EXPECT_EQ(proved("binomial", "16"), 2 * 15u + 7 + 1);
    EXPECT_EQ(proved("binomial", "16x16"), 2 * 30u + 4 + 7 + 1 + 1);
    EXPECT_EQ(proved("binomial", "16x16x16"), 2 * 45u + (4 + 8) + 7 + 2 + 1);
    EXPECT_EQ(proved("rotated-binomial", "16x16x16"), 6 * 112u);
    EXPECT_LT(proved("binomial", "64x32x32"), 310u);
    EXPECT_LT(proved("rotated-binomial", "64x32x32"), 1800u);
    EXPECT_LT(proved("rotated-binomial", "1024x2"), 10000u);
    EXPECT_LT(proved("rotated-binomial", "8x8x8x8x8"), 700u * 5);
  }
}

// A message each, which waits for nothing and goes as far as its node is away.
TEST(LinearScatter, TakesOneStep) {
  for (const Collective collective : kBoth) {
    const Schedule schedule = compiledInSegments("linear", collective, *parseTopology("5x3x4"), 1);
    EXPECT_EQ(schedule.operations.size(), 2 * 59u + 1);
    model::SimulateOptions options;
    options.bytes = 1;
    const model::Machine machine =
        cantFail(model::partitionOf(cantFail(model::findMachine("smpi")), "5x3x4"));
    const auto result = cantFail(model::simulate(schedule.view(), machine, options));
    EXPECT_EQ(result.steps, 1u);
    EXPECT_GE(result.makespan_s, 5 * machine.dimensions[0].latency);
  }
}

TEST(BinomialScatters, AreChosenForShortVectors) {
  for (const Collective collective : kBoth) {
    for (const char* shape : {"4x4x4", "8x4x2m", "16x4"}) {
      const model::Machine machine =
          cantFail(model::partitionOf(cantFail(model::findMachine("smpi")), shape));
      const CollectiveSpec spec{collective, *parseTopology(shape)};
      const auto chosen = [&](double bytes) {
        return cantFail(choose(spec, machine, bytes, {}, nullptr))
            .candidates.front()
            .algorithm->name.str();
      };
      for (const double bytes : {64, 256})
        EXPECT_NE(chosen(bytes), "scatter-trees") << shape << ", " << bytes;
      if (collective == Collective::kScatter) {
        EXPECT_EQ(chosen(1 << 20), "scatter-trees") << shape;
      }
    }
  }
}

TEST(BinomialScatters, NeedRings) {
  Topology damaged = *parseTopology("4x4");
  ASSERT_TRUE(damaged.addDeadNode({1, 1}).ok());
  EXPECT_EQ(llvm::toString(planRotatedBinomial({Collective::kGather, damaged}).takeError()),
            "rotated-binomial: messages cannot go round damage");
  EXPECT_EQ(
      llvm::toString(planBinomial({Collective::kScatter, *parseTopology("4x3m")}).takeError()),
      "binomial: Y is a line, on which the root can be anywhere");
  EXPECT_EQ(llvm::toString(planLinear({Collective::kScatter, *parseTopology("13x5")}).takeError()),
            "linear: 65 ranks, more than 64");
}

}  // namespace
}  // namespace torc::compiler
