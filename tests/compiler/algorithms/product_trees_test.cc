// The trees on tori with lines: proved and run on shapes of one to five axes, from every root, and
// where dead links cut rings; arc-disjoint, so that each link carries one part; as large on any
// torus and in any number of segments.
#include "compiler/algorithms/trees/product_trees.h"

#include <gtest/gtest.h>
#include <llvm/Support/Error.h>

#include "ir/counted/counted_proof.h"
#include "ir/verifier/verifier.h"
#include "tests/compiler/algorithms/rooted_checks.h"

namespace torc::compiler {
namespace {

/// A shape, the axis that a dead link cuts, if one does, and how many trees there are.
struct TreeCase {
  const char* shape;
  int cut;
  std::uint64_t trees;
};

Topology topologyOf(const TreeCase& test) {
  Topology topology = *parseTopology(test.shape);
  if (test.cut >= 0) {
    DeadLink link{Coordinates{}, static_cast<std::uint32_t>(test.cut)};
    link.from[link.axis] = 1;
    EXPECT_TRUE(topology.addDeadLink(link).ok());
  }
  return topology;
}

Schedule compiledTrees(Collective collective, const TreeCase& test, std::uint32_t segments) {
  return compiledInSegments("product-trees", collective, topologyOf(test), segments);
}

class ProductTrees : public testing::TestWithParam<std::tuple<Collective, TreeCase>> {};

TEST_P(ProductTrees, AreProvedAndRunFromEveryRoot) {
  const auto& [collective, test] = GetParam();
  expectProofAndRuns(compiledTrees(collective, test, 5).view());
}

TEST_P(ProductTrees, UseNoArcTwice) {
  const auto& [collective, test] = GetParam();
  const Schedule schedule = compiledTrees(collective, test, 1);
  for (const ir::LinkLoad& load : ir::verify(schedule.view()).loads)
    EXPECT_NEAR(load.share, 1.0 / static_cast<double>(test.trees), 1e-12);
  for (std::int32_t root = 0; root < static_cast<std::int32_t>(schedule.topology.ranks()); ++root)
    expectArcDisjointTrees(schedule.view(), root, test.trees);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ProductTrees,
    testing::Combine(testing::Values(Collective::kBroadcast, Collective::kReduce),
                     testing::Values(TreeCase{"3m", -1, 1}, TreeCase{"5m", -1, 1},
                                     TreeCase{"2m", -1, 1}, TreeCase{"4mx3m", -1, 2},
                                     TreeCase{"3x4m", -1, 3}, TreeCase{"5mx6", -1, 3},
                                     TreeCase{"3mx1x4", -1, 3}, TreeCase{"2x3m", -1, 2},
                                     TreeCase{"3mx3mx3m", -1, 3}, TreeCase{"4x3x3m", -1, 5},
                                     TreeCase{"3mx4x5m", -1, 4}, TreeCase{"3mx3mx3mx3", -1, 4},
                                     TreeCase{"3x3x2mx3m", -1, 6}, TreeCase{"2x3mx3m", -1, 4},
                                     TreeCase{"2x2x3m", -1, 4}, TreeCase{"6", 0, 1},
                                     TreeCase{"4x3", 1, 3}, TreeCase{"3x3x4", 2, 5},
                                     TreeCase{"4x4m", 0, 2})));

TEST(ProductTreesOnAnyTorus, AreAsLarge) {
  for (const Collective collective : {Collective::kBroadcast, Collective::kReduce}) {
    const std::size_t operations =
        compiledTrees(collective, {"4x5mx4", -1, 5}, 1).operations.size();
    for (const char* shape : {"8x8mx8", "64x32mx32"}) {
      const Schedule schedule = compiledTrees(collective, {shape, -1, 5}, 4000);
      EXPECT_EQ(schedule.operations.size(), operations) << shape;
      // The proof takes each coordinate of a line by itself: seconds on the large torus.
      if (schedule.topology.ranks() > 512) continue;
      EXPECT_TRUE(ir::verify(schedule.view()).ok()) << shape;
    }
  }
}

TEST(ProductTreesOnAnyTorus, AreProvedForACountToo) {
  for (const Collective collective : {Collective::kBroadcast, Collective::kReduce}) {
    const Schedule schedule = compiledTrees(collective, {"4x3mx2", -1, 4}, 5);
    const StatusOr<ir::CountedResult> result = ir::proveCounted(schedule.view(), 301);
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(result->fault, "");
  }
}

TEST(ProductTreesOnAnyTorus, NeedALine) {
  Topology broken = *parseTopology("4x4m");
  ASSERT_TRUE(broken.addDeadNode({1, 1}).ok());
  for (const Topology& topology : {*parseTopology("4x4"), *parseTopology("4mx4+2"), broken}) {
    const CollectiveSpec spec{Collective::kBroadcast, topology};
    EXPECT_EQ(llvm::toString(planProductTrees(spec).takeError()),
              "product-trees: the trees need an axis that is no ring, and no damage but at one "
              "coordinate of an axis");
  }
}

}  // namespace
}  // namespace torc::compiler
