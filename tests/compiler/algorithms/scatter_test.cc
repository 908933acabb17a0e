// Scatter and gather on all links of the root: few loops; close to the root's bound. Scatter and
// gather along binomial trees: the stated number of rounds, and no detour; the choice for short
// vectors.
#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <llvm/Support/Error.h>

#include "compiler/algorithms/algorithm.h"
#include "compiler/algorithms/scatter/block_tree.h"
#include "compiler/choice/choice.h"
#include "compiler/target.h"
#include "ir/verifier/verifier.h"
#include "model/bounds/bounds.h"
#include "model/simulator/simulator.h"
#include "tests/compiler/algorithms/checks.h"

namespace torc::compiler {
namespace {

constexpr Collective kOfBlocks[] = {Collective::kScatter, Collective::kGather};

Schedule compiledTrees(Collective collective, const char* shape, std::uint32_t chunks) {
  return compiledInSegments("scatter-trees", collective, *parseTopology(shape), chunks);
}

// Every node is reached once, by a message less than half round, from a node that has its blocks.
TEST(LineTree, HandsOnWhatLiesBehind) {
  for (std::uint32_t size = 2; size < 70; ++size) {
    for (const std::uint32_t nodes : {size / 2, (size - 1) / 2}) {
      std::vector<std::uint32_t> end(nodes + 1, 0);  // behind the last block that a node has
      end[0] = nodes + 1;
      for (const auto& [parent, child, count] : lineTree(nodes, size)) {
        ASSERT_EQ(end[child], 0u) << size;
        ASSERT_LT(parent, child);
        ASSERT_LE(child + count, end[parent]);
        EXPECT_TRUE(2 * (child - parent) < size || size == 2);
        end[child] = child + count;
        if (parent > 0) end[parent] = child;
      }
      for (std::uint32_t node = 1; node <= nodes; ++node)
        EXPECT_EQ(end[node], node + 1) << size;
    }
  }
}

// Messages are in loops, whose number goes with the logarithm of an axis.
TEST(ScatterTrees, AreShortPrograms) {
  for (const Collective collective : kOfBlocks) {
    for (const auto& [shape, most] : {std::pair("1024", 340u), std::pair("256x2", 480u)}) {
      const CollectiveSpec spec{collective, *parseTopology(shape)};
      passes::PassManagerOptions options;
      options.verify_each = false;
      const ir::Program program =
          cantFail(compile(spec, *cantFail(findAlgorithm("scatter-trees")),
                           {passes::SegmentPass{.segments = 8, .window = 3}}, options));
      const ir::Program rolled = cantFail(rollLoops(program, options));
      EXPECT_LT(rolled.schedule.operations.size(), most) << shape;
      EXPECT_TRUE(ir::verify(rolled.schedule.view()).ok());
    }
  }
}

// Every byte leaves the root once, over the link of its color, and all links of the root carry the
// same; no link of another node carries more.
TEST(ScatterTrees, LoadNoLinkMoreThanTheRoots) {
  for (const Collective collective : kOfBlocks) {
    for (const char* shape : {"4x4x4", "3x5x7", "4x8x16", "2x3x3", "16", "32x2x2"}) {
      const Schedule schedule = compiledTrees(collective, shape, 1);
      const model::Machine machine =
          cantFail(model::partitionOf(cantFail(model::findMachine("generic")), shape));
      model::SimulateOptions options;
      options.bytes = 1 << 20;
      const auto nodes = static_cast<double>(schedule.topology.ranks());
      const double colors = static_cast<double>(schedule.colors.size());
      double most = 0;
      for (const model::LinkUse& link :
           cantFail(model::simulate(schedule.view(), machine, options)).links)
        most = std::max(most, link.bytes);
      EXPECT_NEAR(most / options.bytes, (nodes - 1) / nodes / colors, 1e-9) << shape;
    }
  }
}

TEST(ScatterTrees, ReachTheRootsBound) {
  for (const Collective collective : kOfBlocks) {
    for (const auto& [shape, chunks] :
         {std::pair("8x8x8", 4u), std::pair("4x8x16", 8u), std::pair("3x5x7", 8u)}) {
      const model::Machine machine =
          cantFail(model::partitionOf(cantFail(model::findMachine("generic")), shape));
      model::SimulateOptions options;
      options.bytes = 64 << 20;
      model::BoundRequest request;
      request.collective = rowOf(collective);
      request.bytes = options.bytes;
      const Schedule schedule = compiledTrees(collective, shape, chunks);
      const double seconds =
          cantFail(model::simulate(schedule.view(), machine, options)).makespan_s;
      EXPECT_LT(seconds / model::lowerBound(machine, request).bound_s, 1.15)
          << rowOf(collective).name << " on " << shape;
    }
  }
}

// From a corner, as simulated, all links of the root carry about the same, no other link more, and
// segments come close to what they let through.
TEST(FlatBlocks, ReachTheBoundOfACorner) {
  for (const Collective collective : kOfBlocks) {
    for (const auto& [shape, links] :
         {std::pair("8mx8m", 2), {"8x8m", 3}, {"4x4x4m", 5}, {"5mx3x4m", 4}, {"9m", 1}}) {
      const Schedule schedule =
          compiledInSegments("rotated-flat-blocks", collective, *parseTopology(shape), 8);
      const model::Machine machine =
          cantFail(model::partitionOf(cantFail(model::findMachine("generic")), shape));
      model::SimulateOptions options;
      options.bytes = 64 << 20;
      const model::SimulateResult result =
          cantFail(model::simulate(schedule.view(), machine, options));
      double most = 0;
      for (const model::LinkUse& link : result.links)
        most = std::max(most, link.bytes);
      const auto nodes = static_cast<double>(schedule.topology.ranks());
      const double bound = options.bytes * (nodes - 1) / nodes / links;
      EXPECT_LT(most, 1.04 * bound) << shape;
      EXPECT_LT(result.makespan_s, 1.2 * bound / machine.linkBandwidth(0)) << shape;
    }
  }
}

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
