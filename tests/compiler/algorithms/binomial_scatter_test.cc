// Scatter and gather along binomial trees: as many rounds as they say, and no detour; the
// choice for short vectors.
#include <bit>

#include <gtest/gtest.h>
#include <llvm/Support/Error.h>

#include "compiler/algorithms/algorithm.h"
#include "compiler/choice/choice.h"
#include "compiler/target.h"
#include "model/simulator/simulator.h"
#include "tests/compiler/algorithms/rooted_checks.h"

namespace torc::compiler {
namespace {

constexpr Collective kBoth[] = {Collective::kScatter, Collective::kGather};
constexpr const char* kBinomials[] = {"binomial", "rotated-binomial"};

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

}  // namespace
}  // namespace torc::compiler
