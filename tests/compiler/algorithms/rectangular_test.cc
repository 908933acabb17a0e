// The rectangular trees: proved and run on shapes of one to five axes, from every root;
// arc-disjoint, so that each link carries one part; as large on any torus and in any number of
// segments.
#include "compiler/algorithms/trees/rectangular.h"

#include <gtest/gtest.h>
#include <llvm/Support/Error.h>

#include "ir/counted/counted_proof.h"
#include "ir/verifier/verifier.h"
#include "tests/compiler/algorithms/rooted_checks.h"

namespace torc::compiler {
namespace {

Schedule compiled(Collective collective, const char* shape, std::uint32_t segments) {
  return compiledInSegments("rectangular", collective, *parseTopology(shape), segments);
}

class Rectangular : public testing::TestWithParam<std::tuple<Collective, const char*>> {};

TEST_P(Rectangular, IsProvedAndRunsFromEveryRoot) {
  const auto& [collective, shape] = GetParam();
  for (const std::uint32_t segments : {1u, 7u})
    expectProofAndRuns(compiled(collective, shape, segments).view());
}

TEST_P(Rectangular, LoadsEveryArcButThoseToTheRootOnce) {
  const auto& [collective, shape] = GetParam();
  const Schedule schedule = compiled(collective, shape, 1);
  std::uint64_t axes = 0;
  for (std::uint32_t i = 0; i < schedule.topology.axis_count; ++i)
    axes += schedule.topology.axes[i].size > 1;
  for (const ir::LinkLoad& load : ir::verify(schedule.view()).loads)
    EXPECT_NEAR(load.share, 0.5 / static_cast<double>(axes), 1e-12);
  const std::int32_t root = static_cast<std::int32_t>(schedule.topology.ranks() / 2);
  expectArcDisjointTrees(schedule.view(), root, 2 * axes);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Rectangular,
    testing::Combine(testing::Values(Collective::kBroadcast, Collective::kReduce),
                     testing::Values("1", "2", "3", "4", "7", "2x2", "4x3", "2x5", "3x1x4", "3x3x3",
                                     "4x2x3", "2x2x2x2", "3x2x2x2x2")));

TEST(RectangularTrees, AreAsLargeOnAnyTorus) {
  for (const char* shape : {"3x3x3", "8x8x8", "64x32x32", "1024x4x4"}) {
    EXPECT_EQ(compiled(Collective::kBroadcast, shape, 1).operations.size(), 72u) << shape;
    EXPECT_EQ(compiled(Collective::kBroadcast, shape, 4000).operations.size(), 72u) << shape;
    const Schedule reduce = compiled(Collective::kReduce, shape, 4000);
    EXPECT_EQ(reduce.operations.size(),
              compiled(Collective::kReduce, "3x3x3", 1).operations.size());
    EXPECT_TRUE(ir::verify(reduce.view()).ok()) << shape;
  }
}

TEST(RectangularTrees, AreProvedForACountToo) {
  for (const Collective collective : {Collective::kBroadcast, Collective::kReduce}) {
    const Schedule schedule = compiled(collective, "4x3x2", 5);
    const StatusOr<ir::CountedResult> result = ir::proveCounted(schedule.view(), 301);
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(result->fault, "");
  }
}

TEST(RectangularTrees, NeedRings) {
  for (const char* shape : {"4mx4", "4x2m", "4x4+2"}) {
    const CollectiveSpec spec{Collective::kBroadcast, *parseTopology(shape)};
    EXPECT_EQ(llvm::toString(planRectangular(spec).takeError()),
              "rectangular: the trees need a ring along every axis, and no damage");
  }
}

}  // namespace
}  // namespace torc::compiler
