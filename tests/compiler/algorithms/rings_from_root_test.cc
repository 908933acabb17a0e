// A broadcast by scatter and allgather: proved and run on shapes of one to five axes, from every
// root, in all ways round the rings; the bytes that leave the root.
#include <gtest/gtest.h>
#include <llvm/Support/Error.h>

#include "compiler/algorithms/algorithm.h"
#include "compiler/compile.h"
#include "ir/counted/counted_proof.h"
#include "ir/verifier/verifier.h"
#include "tests/compiler/algorithms/rooted_checks.h"

namespace torc {
namespace {

Schedule compiled(const char* shape, DirectionModel directions, std::uint32_t chunks) {
  const Algorithm& algorithm = *cantFail(findAlgorithm("scatter-allgather"));
  PipelineOptions options;
  options.directions = directions;
  options.chunks = chunks;
  return cantFail(compile({Collective::kBroadcast, *parseTopology(shape)}, algorithm,
                          pipelineOf(algorithm, options), PassManagerOptions()))
      .schedule;
}

class ScatterAllgather : public testing::TestWithParam<std::tuple<DirectionModel, const char*>> {};

TEST_P(ScatterAllgather, IsProvedAndRunsFromEveryRoot) {
  const auto& [directions, shape] = GetParam();
  for (const std::uint32_t chunks : {1u, 3u})
    expectProofAndRuns(compiled(shape, directions, chunks).view());
}

TEST_P(ScatterAllgather, IsProvedForACount) {
  const auto& [directions, shape] = GetParam();
  const StatusOr<CountedResult> result = proveCounted(compiled(shape, directions, 1).view(), 61);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->fault, "");
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ScatterAllgather,
    testing::Combine(testing::Values(DirectionModel::kUnidirectional,
                                     DirectionModel::kBidirectional, DirectionModel::kHalfLatency),
                     testing::Values("1", "2", "3", "4", "7", "2x2", "4x3", "2x5+3", "3x1x4",
                                     "4x2x3", "3x2x2x2x2", "2mx4")));

// The scatter and the allgather load the busiest link with (p-1)/p of the vector over 2N links
// each.
TEST(ScatterAllgatherLoads, AreTwiceTheBound) {
  for (const DirectionModel directions :
       {DirectionModel::kBidirectional, DirectionModel::kHalfLatency}) {
    double busiest = 0;
    std::map<std::pair<std::uint32_t, int>, double> sums;
    for (const LinkLoad& load : verify(compiled("8x8x8", directions, 1).view()).loads)
      busiest = std::max(busiest, sums[{load.axis, load.sign}] += load.share);
    EXPECT_NEAR(busiest, 2.0 * 511 / 512 / 6, 1e-12);
  }
}

}  // namespace
}  // namespace torc
