// The dimension-order tree: proved and run on every kind of shape, from every root; as large on any
// torus.
#include "compiler/algorithms/trees/dimension_tree.h"

#include <utility>

#include <gtest/gtest.h>
#include <llvm/Support/Error.h>

#include "compiler/algorithms/algorithm.h"
#include "compiler/compile.h"
#include "ir/verifier/verifier.h"
#include "tests/runtime/execution/checked_job.h"

namespace torc::compiler {
namespace {

Schedule compiled(const char* shape, std::uint32_t chunks,
                  Collective collective = Collective::kBroadcast) {
  const CollectiveSpec spec{collective, *parseTopology(shape)};
  const Algorithm& algorithm = *cantFail(findAlgorithm("dimension-tree"));
  PipelineOptions options;
  options.chunks = chunks;
  return cantFail(
             compile(spec, algorithm, pipelineOf(algorithm, options), passes::PassManagerOptions()))
      .schedule;
}

class DimensionTree : public testing::TestWithParam<const char*> {};

TEST_P(DimensionTree, IsProvedAndRunsForEveryRoot) {
  for (const auto& [collective, chunks] :
       {std::pair(Collective::kBroadcast, 1u), std::pair(Collective::kBroadcast, 3u),
        std::pair(Collective::kReduce, 1u), std::pair(Collective::kReduce, 3u)}) {
    const Schedule schedule = compiled(GetParam(), chunks, collective);
    SCOPED_TRACE(schedule.name);
    const ir::VerifyResult proof = ir::verify(schedule.view());
    ASSERT_TRUE(proof.ok()) << proof.faults.front().message;
    for (std::int32_t root = 0; root < static_cast<std::int32_t>(schedule.topology.ranks());
         ++root) {
      for (const bool in_place : {false, true}) {
        CheckedCall call;
        call.count = 97;
        call.in_place = in_place;
        call.root = root;
        call.delivery = in_place ? runtime::Delivery::kRendezvous : runtime::Delivery::kAdversarial;
        EXPECT_EQ(runChecked(schedule.view(), call), "") << "root " << root;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, DimensionTree,
                         testing::Values("1", "2", "2m", "3", "4", "5", "3m", "4x3", "2x5", "4mx3",
                                         "3mx4m", "2x2x2x2x2", "3x2+4", "2mx3m+2", "1x4x1"));

TEST(DimensionTree, HasAsManyOperationsOnAnyTorus) {
  // A copy; for each axis a send and a receive both ways.
  EXPECT_EQ(compiled("4x4x4", 1).operations.size(), 13u);
  EXPECT_EQ(compiled("64x32x32", 1).operations.size(), 13u);
  // However many segments there are.
  EXPECT_EQ(compiled("512x2x2", 16).operations.size(), 9u);
  // A reduce: on each of two arms the last node sends, those on the way receive, add and send, and
  // the root receives and adds; of the first axis three of these are one operation, with nothing to
  // wait for.
  EXPECT_EQ(compiled("8x5x6", 1, Collective::kReduce).operations.size(), 9u + 12 + 12);
  EXPECT_EQ(compiled("64x32x32", 1, Collective::kReduce).operations.size(), 9u + 12 + 12);
}

TEST(DimensionTree, RefusesDamage) {
  CollectiveSpec spec{Collective::kBroadcast, *parseTopology("4x4")};
  ASSERT_TRUE(spec.topology.addDeadNode({1, 1}).ok());
  EXPECT_EQ(llvm::toString(planDimensionTree(spec).takeError()),
            "dimension-tree: the tree cannot go round damage");
}

TEST(DimensionTree, OthersDoNotServeABroadcast) {
  const CollectiveSpec spec{Collective::kBroadcast, *parseTopology("4x4")};
  const Algorithm* bucket = cantFail(findAlgorithm("bucket"));
  EXPECT_EQ(llvm::toString(compile(spec, *bucket, {}, passes::PassManagerOptions()).takeError()),
            "algorithm bucket does not serve broadcast; torc compile --list-algorithms");
}

}  // namespace
}  // namespace torc::compiler
