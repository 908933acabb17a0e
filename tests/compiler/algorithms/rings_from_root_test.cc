// A broadcast by scatter and allgather, and a reduce by reduce-scatter and gather: proved and run
// on shapes of one to five axes, from and to every root, in all ways round the rings; what the
// busiest link carries.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>
#include <llvm/Support/Error.h>

#include "compiler/algorithms/algorithm.h"
#include "compiler/compile.h"
#include "ir/counted/counted_proof.h"
#include "ir/verifier/verifier.h"
#include "tests/compiler/algorithms/rooted_checks.h"

namespace torc::compiler {
namespace {

Schedule compiled(Collective collective, const char* shape, passes::DirectionModel directions,
                  std::uint32_t chunks) {
  const Algorithm& algorithm = *cantFail(findAlgorithm(
      collective == Collective::kReduce ? "reduce-scatter-gather" : "scatter-allgather"));
  PipelineOptions options;
  options.directions = directions;
  options.chunks = chunks;
  return cantFail(compile({collective, *parseTopology(shape)}, algorithm,
                          pipelineOf(algorithm, options), passes::PassManagerOptions()))
      .schedule;
}

class RingsFromRoot
    : public testing::TestWithParam<std::tuple<Collective, passes::DirectionModel, const char*>> {};

TEST_P(RingsFromRoot, AreProvedAndRunForEveryRoot) {
  const auto& [collective, directions, shape] = GetParam();
  expectProofAndRuns(compiled(collective, shape, directions, 1).view());
  if (directions == passes::DirectionModel::kUnidirectional)
    return;  // as bidirectional ones, but for less
  expectProofAndRuns(compiled(collective, shape, directions, 3).view());
}

TEST_P(RingsFromRoot, AreProvedForACount) {
  const auto& [collective, directions, shape] = GetParam();
  const StatusOr<ir::CountedResult> result =
      ir::proveCounted(compiled(collective, shape, directions, 1).view(), 61);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->fault, "");
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, RingsFromRoot,
    testing::Combine(testing::Values(Collective::kBroadcast, Collective::kReduce),
                     testing::Values(passes::DirectionModel::kUnidirectional,
                                     passes::DirectionModel::kBidirectional,
                                     passes::DirectionModel::kHalfLatency),
                     testing::Values("1", "2", "3", "4", "7", "2x2", "4x3", "2x5+3", "3x1x4",
                                     "4x2x3", "3x2x2x2x2", "2mx4")));

// Each of the two halves loads the busiest link with (p-1)/p of the vector over 2N links.
TEST(RingsFromRootLoads, AreTwiceTheBound) {
  for (const Collective collective : {Collective::kBroadcast, Collective::kReduce}) {
    for (const passes::DirectionModel directions :
         {passes::DirectionModel::kBidirectional, passes::DirectionModel::kHalfLatency}) {
      double busiest = 0;
      std::map<std::pair<std::uint32_t, int>, double> sums;
      for (const ir::LinkLoad& load :
           ir::verify(compiled(collective, "8x8x8", directions, 1).view()).loads)
        busiest = std::max(busiest, sums[{load.axis, load.sign}] += load.share);
      EXPECT_NEAR(busiest, 2.0 * 511 / 512 / 6, 1e-12);
    }
  }
}

}  // namespace
}  // namespace torc::compiler
