// Scatter and gather on all links of the root: proved and run on every kind of shape, for every
// root; a message for each node of an axis, in few loops; close to the root's bound.
#include "compiler/algorithms/scatter/scatter_trees.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <llvm/Support/Error.h>

#include "compiler/algorithms/algorithm.h"
#include "compiler/algorithms/scatter/block_tree.h"
#include "compiler/compile.h"
#include "ir/verifier/verifier.h"
#include "model/bounds/bounds.h"
#include "model/simulator/simulator.h"
#include "tests/compiler/algorithms/rooted_checks.h"

namespace torc::compiler {
namespace {

constexpr Collective kOfBlocks[] = {Collective::kScatter, Collective::kGather};

Schedule compiledTrees(Collective collective, const std::string& shape, std::uint32_t chunks) {
  const CollectiveSpec spec{collective, *parseTopology(shape)};
  const Algorithm& algorithm = defaultAlgorithm(spec);
  EXPECT_EQ(algorithm.name, "scatter-trees");
  PipelineOptions options;
  options.chunks = chunks;
  return cantFail(
             compile(spec, algorithm, pipelineOf(algorithm, options), passes::PassManagerOptions()))
      .schedule;
}

class ScatterTrees : public testing::TestWithParam<const char*> {};

TEST_P(ScatterTrees, AreProvedAndRunForEveryRoot) {
  for (const Collective collective : kOfBlocks) {
    const Schedule schedule = compiledTrees(collective, GetParam(), GetParam()[0] == '4' ? 2 : 1);
    SCOPED_TRACE(schedule.name);
    expectProofAndRunsOfBlocks(schedule.view());
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ScatterTrees,
                         testing::Values("1", "2", "2m", "3", "4", "5", "4x3", "2x5", "3x3x4",
                                         "2x2x2x2", "2mx3", "3x2+4", "1x4x1", "1+3", "10"));

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

TEST(ScatterTrees, HaveAMessageForEachNodeOfAnAxis) {
  for (const Collective collective : kOfBlocks) {
    const auto operations = [&](const char* shape) {
      return compiledTrees(collective, shape, 1).operations.size();
    };
    // Both ways round a ring, of each color: a message for each node, whose sender has a copy of
    // its own if it is not the root; and the root's own block.
    EXPECT_EQ(operations("9"), 2 * (2 * 8 + 2 + 1u));
    EXPECT_EQ(operations("10"), 2 * (2 * 9 + 2 + 1 + 1u));
    EXPECT_LT(operations("64x32x32"), 5000u);
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

TEST(ScatterTrees, NeedAxesThatWrapAndNoDamage) {
  CollectiveSpec spec{Collective::kScatter, *parseTopology("4x4")};
  ASSERT_TRUE(spec.topology.addDeadNode({1, 1}).ok());
  EXPECT_FALSE(isServed(spec));
  EXPECT_EQ(llvm::toString(planScatterTrees(spec).takeError()),
            "scatter-trees: the trees cannot go round damage");
  spec.topology = *parseTopology("4x3m");
  EXPECT_FALSE(isServed(spec));
  EXPECT_EQ(llvm::toString(planScatterTrees(spec).takeError()),
            "scatter-trees: the trees need axes that wrap");
}

}  // namespace
}  // namespace torc::compiler
