// Scatter and gather on all links of the root: proved and run on every kind of shape, for every
// root; as many operations as axes are long; close to the root's bound.
#include "compiler/algorithms/scatter/scatter_trees.h"

#include <algorithm>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <llvm/Support/Error.h>

#include "compiler/algorithms/algorithm.h"
#include "compiler/compile.h"
#include "ir/verifier/verifier.h"
#include "model/bounds/bounds.h"
#include "model/simulator/simulator.h"
#include "tests/compiler/algorithms/rooted_checks.h"

namespace torc::compiler {
namespace {

constexpr Collective kBoth[] = {Collective::kScatter, Collective::kGather};

Schedule compiled(Collective collective, const std::string& shape, std::uint32_t chunks) {
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
  for (const Collective collective : kBoth) {
    const Schedule schedule = compiled(collective, GetParam(), GetParam()[0] == '4' ? 2 : 1);
    SCOPED_TRACE(schedule.name);
    expectProofAndRunsOfBlocks(schedule.view());
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ScatterTrees,
                         testing::Values("1", "2", "2m", "3", "4", "5", "4x3", "2x5", "3x3x4",
                                         "2x2x2x2", "2mx3", "3x2+4", "1x4x1", "1+3", "10"));

TEST(ScatterTrees, HaveOneOperationMoreForEachStepOfAnAxis) {
  for (const Collective collective : kBoth) {
    const auto operations = [&](const char* shape) {
      return compiled(collective, shape, 1).operations.size();
    };
    // Both ways round a ring a row per node, which the root sends or receives, and others receive
    // and send; in a gather those who use a slot for the first time receive by themselves. And the
    // own block, and the root's.
    const bool gathers = collective == Collective::kGather;
    EXPECT_EQ(operations("9"), 2 * (8 + 2 * 7 + (gathers ? 5 : 0) + 1 + 1u));
    EXPECT_EQ(operations("10"), operations("9") + 2 * (gathers ? 4 : 3));
    EXPECT_EQ(operations("9x16x4") - operations("9x16x3"),
              operations("30x5x4") - operations("30x5x3"));
    EXPECT_LT(operations("64x32x32"), 6000u);
  }
}

// Every byte leaves the root once, over the link of its color, and all links of the root carry the
// same; no link of another node carries more.
TEST(ScatterTrees, LoadNoLinkMoreThanTheRoots) {
  for (const Collective collective : kBoth) {
    for (const char* shape : {"4x4x4", "3x5x7", "4x8x16", "2x3x3", "16"}) {
      const Schedule schedule = compiled(collective, shape, 1);
      const Topology& topology = schedule.topology;
      const ir::VerifyResult proof = ir::verify(schedule.view());
      ASSERT_TRUE(proof.ok());
      const auto nodes = static_cast<double>(topology.ranks());
      const double colors = static_cast<double>(schedule.colors.size());
      double most = 0;
      for (const ir::LinkLoad& load : proof.loads)
        most = std::max(most, load.share);
      EXPECT_NEAR(most, (nodes - 1) / nodes / colors, 1e-12) << shape;
    }
  }
}

TEST(ScatterTrees, ReachTheRootsBound) {
  for (const Collective collective : kBoth) {
    for (const auto& [shape, chunks] :
         {std::pair("8x8x8", 4u), std::pair("4x8x16", 8u), std::pair("3x5x7", 8u)}) {
      const model::Machine machine =
          cantFail(model::partitionOf(cantFail(model::findMachine("generic")), shape));
      model::SimulateOptions options;
      options.bytes = 64 << 20;
      model::BoundRequest request;
      request.collective = rowOf(collective);
      request.bytes = options.bytes;
      const Schedule schedule = compiled(collective, shape, chunks);
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
