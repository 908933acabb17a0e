// The rectangular trees: proved and run on shapes of one to five axes, from every root;
// arc-disjoint, so that each link carries one part; as large on any torus and in any number of
// segments.
#include "compiler/algorithms/trees/rectangular.h"

#include <set>

#include <gtest/gtest.h>
#include <llvm/Support/Error.h>

#include "compiler/algorithms/algorithm.h"
#include "compiler/compile.h"
#include "ir/counted/counted_proof.h"
#include "ir/verifier/verifier.h"
#include "schedules/expansion/expand.h"
#include "tests/properties/checked_job.h"

namespace torc {
namespace {

Schedule compiled(Collective collective, const char* shape, std::uint32_t segments) {
  const CollectiveSpec spec{collective, *parseTopology(shape)};
  const Algorithm& algorithm = *cantFail(findAlgorithm("rectangular"));
  PipelineOptions options;
  options.chunks = segments;
  return cantFail(compile(spec, algorithm, pipelineOf(algorithm, options), PassManagerOptions()))
      .schedule;
}

class Rectangular : public testing::TestWithParam<std::tuple<Collective, const char*>> {};

TEST_P(Rectangular, IsProvedAndRunsFromEveryRoot) {
  const auto& [collective, shape] = GetParam();
  for (const std::uint32_t segments : {1u, 7u}) {
    const Schedule schedule = compiled(collective, shape, segments);
    for (const bool per_rank : {false, true}) {
      const VerifyResult proof = verify(schedule.view(), {.per_rank = per_rank});
      ASSERT_TRUE(proof.ok()) << proof.faults.front().message;
    }
    for (std::int32_t root = 0; root < static_cast<std::int32_t>(schedule.topology.ranks());
         ++root) {
      for (const bool in_place : {false, true}) {
        CheckedCall call;
        call.count = 197;
        call.in_place = in_place;
        call.root = root;
        call.delivery = in_place ? Delivery::kRendezvous : Delivery::kAdversarial;
        EXPECT_EQ(runChecked(schedule.view(), call), "") << "root " << root;
      }
    }
  }
}

TEST_P(Rectangular, LoadsEveryArcButThoseToTheRootOnce) {
  const auto& [collective, shape] = GetParam();
  const Schedule schedule = compiled(collective, shape, 1);
  std::uint64_t axes = 0;
  for (std::uint32_t i = 0; i < schedule.topology.axis_count; ++i)
    axes += schedule.topology.axes[i].size > 1;
  for (const LinkLoad& load : verify(schedule.view()).loads)
    EXPECT_NEAR(load.share, 0.5 / static_cast<double>(axes), 1e-12);
  const std::uint64_t ranks = schedule.topology.ranks();
  const std::int32_t root = static_cast<std::int32_t>(ranks / 2);
  // Who sends to whom for which color: as the two cables of a ring of two join the same nodes, the
  // direction is part of it.
  std::set<std::tuple<std::int32_t, std::int32_t, std::uint32_t>> arcs;
  std::set<std::pair<std::int32_t, std::uint32_t>> reached;  // a node in a tree
  const bool reduces = rowOf(schedule.collective).reduces();
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    const auto program =
        expand(schedule.view(), static_cast<std::int32_t>(rank), Counts{1000, {}, {}}, false, root);
    ASSERT_TRUE(program.ok());
    for (const FlatOperation& operation : program->operations) {
      if (operation.kind != OperationKind::kSend) continue;
      const std::uint32_t shift = schedule.operations[operation.source].peer;
      EXPECT_TRUE(arcs.emplace(program->rank, operation.peer, shift).second)
          << program->rank << " to " << operation.peer;
      const std::int32_t child = reduces ? program->rank : operation.peer;
      EXPECT_TRUE(reached.emplace(child, operation.stream).second) << child;
      EXPECT_NE(child, root);
    }
  }
  EXPECT_EQ(reached.size(), (ranks - 1) * 2 * axes);
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
    EXPECT_TRUE(verify(reduce.view()).ok()) << shape;
  }
}

TEST(RectangularTrees, AreProvedForACountToo) {
  for (const Collective collective : {Collective::kBroadcast, Collective::kReduce}) {
    const Schedule schedule = compiled(collective, "4x3x2", 5);
    const StatusOr<CountedResult> result = proveCounted(schedule.view(), 301);
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
}  // namespace torc
