// Trees round one dead node: proved and run on shapes of one to five axes, from every root; each
// link carries one part; as large on any torus.
#include "compiler/algorithms/planes/plane_trees.h"

#include <gtest/gtest.h>
#include <llvm/Support/Error.h>

#include "ir/counted/counted_proof.h"
#include "ir/verifier/verifier.h"
#include "tests/compiler/algorithms/rooted_checks.h"

namespace torc::compiler {
namespace {

/// A shape, the node that is dead, and how many parts there are.
struct PlaneCase {
  const char* shape;
  Coordinates dead;
  std::uint32_t parts;
};

Schedule compiledPlanes(Collective collective, const PlaneCase& test, std::uint32_t segments) {
  Topology topology = *parseTopology(test.shape);
  EXPECT_TRUE(topology.addDeadNode(test.dead).ok());
  return compiledInSegments("plane-trees", collective, topology, segments);
}

class PlaneTrees : public testing::TestWithParam<std::tuple<Collective, PlaneCase>> {};

TEST_P(PlaneTrees, AreProvedAndRunFromEveryRoot) {
  const auto& [collective, test] = GetParam();
  expectProofAndRuns(compiledPlanes(collective, test, 3).view());
}

TEST_P(PlaneTrees, LoadEveryLinkOnce) {
  const auto& [collective, test] = GetParam();
  const Schedule schedule = compiledPlanes(collective, test, 1);
  ir::VerifyOptions every_root;
  every_root.per_rank = true;
  const ir::VerifyResult proof = ir::verify(schedule.view(), every_root);
  EXPECT_TRUE(proof.ok());
  for (const ir::LinkLoad& load : proof.loads)
    EXPECT_NEAR(load.share, 1.0 / static_cast<double>(test.parts), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, PlaneTrees,
    testing::Combine(testing::Values(Collective::kBroadcast, Collective::kReduce),
                     testing::Values(PlaneCase{"5", {3}, 1}, PlaneCase{"2x2", {1, 1}, 2},
                                     PlaneCase{"4x3", {1, 0}, 3}, PlaneCase{"2x5", {0, 4}, 2},
                                     PlaneCase{"3x3x3", {1, 1, 1}, 5},
                                     PlaneCase{"3x2x4", {2, 1, 0}, 4},
                                     PlaneCase{"2x2x2", {0, 0, 0}, 4},
                                     PlaneCase{"2x3x2x2", {1, 2, 0, 1}, 5})));

TEST(PlaneTreesOnAnyTorus, AreAsLarge) {
  for (const Collective collective : {Collective::kBroadcast, Collective::kReduce}) {
    const std::size_t operations =
        compiledPlanes(collective, {"5x6x7", {0, 1, 2}, 5}, 1).operations.size();
    const bool reduces = collective == Collective::kReduce;  // whose proof grows with the axes
    const Schedule large =
        compiledPlanes(collective, {reduces ? "7x6x8" : "12x16x9", {5, 1, 7}, 5}, 60);
    EXPECT_EQ(large.operations.size(), operations);
  }
}

TEST(PlaneTreesOnAnyTorus, AreProvedForACountToo) {
  for (const Collective collective : {Collective::kBroadcast, Collective::kReduce}) {
    const Schedule schedule = compiledPlanes(collective, {"3x4x3", {1, 2, 0}, 5}, 5);
    const StatusOr<ir::CountedResult> result = ir::proveCounted(schedule.view(), 301);
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(result->fault, "");
  }
}

TEST(PlaneTreesOnAnyTorus, NeedOneDeadNode) {
  Topology two = *parseTopology("4x4"), line = *parseTopology("4x4m");
  ASSERT_TRUE(two.addDeadNode({1, 1}).ok() && two.addDeadNode({2, 3}).ok());
  ASSERT_TRUE(line.addDeadNode({1, 1}).ok());
  for (const Topology& topology : {*parseTopology("4x4"), two, line}) {
    EXPECT_EQ(llvm::toString(planPlaneTrees({Collective::kBroadcast, topology}).takeError()),
              "plane trees: they need a ring along every axis, and one dead node");
  }
}

}  // namespace
}  // namespace torc::compiler
