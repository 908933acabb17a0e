// Scatter and gather on all links of the root: few loops; close to the root's bound. Scatter and
// gather along binomial trees: the stated number of rounds, and no detour; the choice for short
// vectors.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <llvm/Support/Error.h>

#include "compiler/algorithms/algorithm.h"
#include "compiler/algorithms/trees/ring_tree.h"
#include "compiler/choice/choice.h"
#include "compiler/target.h"
#include "ir/verifier/verifier.h"
#include "model/bounds/bounds.h"
#include "model/simulator/simulator.h"
#include "tests/compiler/algorithms/checks.h"

namespace torc::compiler {
namespace {

constexpr Collective kOfBlocks[] = {Collective::kScatter, Collective::kGather};

model::Machine on(const char* machine, const std::string& shape) {
  return cantFail(model::partitionOf(cantFail(model::findMachine(machine)), shape));
}

// Every node is reached, by a message less than half round.
TEST(SplitTree, SendsNothingHalfRound) {
  for (std::uint32_t size = 3; size < 70; ++size) {
    const RingTree tree = splitTree(size);
    EXPECT_EQ(arcsOf(tree, size).front().count, size);
    for (const RingTreeEdge& edge : tree.front())
      EXPECT_LT(2 * std::abs(distanceOf(edge, size)), static_cast<int>(size));
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
      const Schedule schedule =
          compiledInSegments("scatter-trees", collective, *parseTopology(shape), 1);
      const model::Machine machine = on("generic", shape);
      const model::SimulateOptions options{.bytes = 1 << 20};
      const auto nodes = static_cast<double>(schedule.topology.ranks());
      const double colors = static_cast<double>(schedule.colors.size());
      const auto links = cantFail(model::simulate(schedule.view(), machine, options)).links;
      const double most = std::ranges::max(links, {}, &model::LinkUse::bytes).bytes;
      EXPECT_NEAR(most / options.bytes, (nodes - 1) / nodes / colors, 1e-9) << shape;
    }
  }
}

// Links of the root send its data in equal shares; round damage, links beside hubs a little more.
TEST(ScatterTrees, ReachTheRootsBound) {
  passes::PassManagerOptions unproved;
  unproved.verify_each = false;
  for (const Collective collective : kOfBlocks) {
    for (const auto& [name, topology, chunks, most] :
         {std::tuple("scatter-trees", damaged("8x8x8", {}), 4u, 1.15),
          {"scatter-trees", damaged("4x8x16", {}), 8u, 1.15},
          {"scatter-trees", damaged("3x5x7", {}), 8u, 1.15},
          {"hub-trees", damaged("6x6x6", {"2,2,2"}), 200u, 1.15},
          {"hub-trees", damaged("6x6x6", {"2,2,2", "4,4,4"}), 200u, 1.25},
          {"hub-trees", damaged("14x9", {}, {"3,4:X", "8,2:X"}), 200u, 1.25},
          {"hub-trees", damaged("14x9", {}, {"3,3:X", "7,5:Y"}), 200u, 1.25}}) {
      const model::Machine machine = on("generic", topology.shape());
      const model::SimulateOptions options{.bytes = 64 << 20};
      const model::BoundRequest request{.collective = rowOf(collective), .bytes = options.bytes};
      const Algorithm& algorithm = *cantFail(findAlgorithm(name));
      const Schedule schedule =
          cantFail(compile({collective, topology}, algorithm,
                           pipelineOf(algorithm, {.chunks = chunks}), unproved))
              .schedule;
      const double seconds =
          cantFail(model::simulate(schedule.view(), machine, options)).makespan_s;
      EXPECT_LT(seconds / model::lowerBound(machine, request).bound_s, most)
          << rowOf(collective).name << " on " << topology.shape();
    }
  }
}

// On rings cut at one coordinate, which are lines, and with any other damage.
TEST(RoundDamage, BlocksAreProvedAndRun) {
  const auto list = [](auto... topologies) { return std::vector<Topology>{topologies...}; };
  const auto cut =
      list(damaged("5x4", {}, {"1,1:X"}), damaged("3x4x3m", {}, {"0,1,0:Y", "2,1,1:Y"}));
  const auto broken = list(
      damaged("5", {"3"}), damaged("2x2", {"1,1"}), damaged("4x3", {"1,0"}), damaged("2", {"0"}),
      damaged("2", {}, {"1:X"}), damaged("4x4", {"0,2", "1,1", "1,2", "1,3", "2,2"}),
      damaged("5x4", {"1,1", "3,2"}), damaged("4x3", {"1,1", "1,2"}),
      damaged("4x3", {}, {"1,1:Y", "0,2:Y"}), damaged("2x3", {}, {"0,0:Y", "1,1:Y"}),
      damaged("4x4", {"0,2"}, {"2,1:Y"}), damaged("3x1x4", {"2,0,1"}), damaged("3x2x3", {"1,1,1"}),
      damaged("3x3x2", {"0,1,1", "2,0,0"}), damaged("2x3x2x2", {"1,2,0,1"}));
  for (const auto& [name, topologies] :
       {std::pair("hub-trees", broken), {"flat-blocks", cut}, {"rotated-flat-blocks", cut}}) {
    for (const Topology& topology : topologies) {
      for (const Collective collective : kOfBlocks)
        expectProofAndRuns(compiledInSegments(name, collective, topology, 5).view());
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
      const model::Machine machine = on("generic", shape);
      const model::SimulateOptions options{.bytes = 64 << 20};
      const model::SimulateResult result =
          cantFail(model::simulate(schedule.view(), machine, options));
      const double most = std::ranges::max(result.links, {}, &model::LinkUse::bytes).bytes;
      const auto nodes = static_cast<double>(schedule.topology.ranks());
      const double bound = options.bytes * (nodes - 1) / nodes / links;
      EXPECT_LT(most, 1.04 * bound) << shape;
      EXPECT_LT(result.makespan_s, 1.2 * bound / machine.linkBandwidth(0)) << shape;
    }
  }
}

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
  for (const Collective collective : kOfBlocks) {
    for (const char* algorithm : {"binomial", "rotated-binomial"}) {
      for (const char* shape : {"2x2", "5x3x4", "8x8x8", "16x4", "64x2", "3x3x2x2x2", "9"}) {
        const Topology topology = *parseTopology(shape);
        const Schedule schedule = compiledInSegments(algorithm, collective, topology, 1);
        model::Machine machine = on("generic", shape);
        for (auto& dimension : machine.dimensions)
          dimension.bandwidth = 1e18;
        const model::SimulateOptions options{.bytes = 1};
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
  for (const Collective collective : kOfBlocks) {
    const Schedule schedule = compiledInSegments("linear", collective, *parseTopology("5x3x4"), 1);
    EXPECT_EQ(schedule.operations.size(), 2 * 59u + 1);
    const model::SimulateOptions options{.bytes = 1};
    const model::Machine machine = on("smpi", "5x3x4");
    const auto result = cantFail(model::simulate(schedule.view(), machine, options));
    EXPECT_EQ(result.steps, 1u);
    EXPECT_GE(result.makespan_s, 5 * machine.dimensions[0].latency);
  }
}

TEST(BinomialScatters, AreChosenForShortVectors) {
  for (const Collective collective : kOfBlocks) {
    for (const char* shape : {"4x4x4", "8x4x2m", "16x4"}) {
      const model::Machine machine = on("smpi", shape);
      const CollectiveSpec spec{collective, *parseTopology(shape)};
      const auto chosen = [&](double bytes) {
        return cantFail(choose(spec, machine, bytes, {}, nullptr))
            .candidates.front()
            .algorithm->name.str();
      };
      for (const double bytes : {64, 256})
        EXPECT_NE(chosen(bytes), "scatter-trees") << shape << ", " << bytes;
      if (collective == Collective::kGather) continue;
      EXPECT_EQ(chosen(1 << 20), "scatter-trees") << shape;
    }
  }
}

}  // namespace
}  // namespace torc::compiler
