// Plans of trees on every kind of shape: an allreduce by a reduction along the axes in one order
// and a broadcast in another is proved and computes; a broadcast serves every root.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ir/counted/counted_proof.h"
#include "tests/passes/pass_testing.h"
#include "tests/runtime/execution/checked_job.h"

namespace torc::passes {
namespace {

/// `reductions` and `broadcasts` along axes, in this order.
ir::Program treePlan(Collective collective, const std::string& shape,
                     const std::vector<std::uint32_t>& reductions,
                     const std::vector<std::uint32_t>& broadcasts, bool barriers,
                     std::uint32_t colors = 1) {
  ir::Program program = planOf(collective, shape, colors);
  const auto add = [&](ir::PlanKind kind, std::uint32_t axis) {
    if (barriers && !program.plan.empty()) program.plan.push_back({ir::PlanKind::kPhaseBarrier});
    for (std::uint32_t i = 0; i < colors; ++i)
      program.plan.push_back({kind, i, axis});
  };
  for (const std::uint32_t axis : reductions)
    add(ir::PlanKind::kTreeReduce, axis);
  for (const std::uint32_t axis : broadcasts)
    add(ir::PlanKind::kTreeBroadcast, axis);
  return program;
}

std::vector<std::uint32_t> axesOf(const std::string& shape, bool reversed) {
  std::vector<std::uint32_t> axes(parseTopology(shape)->axis_count);
  std::iota(axes.begin(), axes.end(), 0);
  if (reversed) std::reverse(axes.begin(), axes.end());
  return axes;
}

constexpr const char* kSteps[] = {
    "expand-trees",
    "expand-trees,infer-dependences,allocate-scratch",
    "expand-trees,infer-dependences{by=phase},allocate-scratch{depth=1}",
    "expand-trees,pipeline{chunks=3,sends=in-turn},allocate-scratch",
    "expand-trees,coalesce,pipeline{chunks=2},infer-dependences",
};

class Trees : public testing::TestWithParam<const char*> {};

TEST_P(Trees, SumAndBroadcast) {
  for (const bool reversed : {false, true}) {
    for (const char* steps : kSteps) {
      SCOPED_TRACE(steps);
      ir::Program program = treePlan(Collective::kAllreduce, GetParam(), axesOf(GetParam(), true),
                                     axesOf(GetParam(), reversed), !reversed, reversed ? 2 : 1);
      ASSERT_EQ(runPasses(program, steps), "");
      EXPECT_EQ(faultOf(program), "");
      const auto counted = ir::proveCounted(program.schedule.view(), 11);
      ASSERT_TRUE(counted.ok()) << counted.status().message();
      EXPECT_EQ(counted->fault, "");
      for (const bool in_place : {false, true}) {
        CheckedCall call;
        call.count = 13;
        call.in_place = in_place;
        call.delivery = in_place ? runtime::Delivery::kRendezvous : runtime::Delivery::kAdversarial;
        EXPECT_EQ(runChecked(program.schedule.view(), call), "");
      }
    }
  }
}

TEST_P(Trees, BroadcastFromEveryRoot) {
  ir::Program program =
      treePlan(Collective::kBroadcast, GetParam(), {}, axesOf(GetParam(), true), true, 2);
  ASSERT_EQ(runPasses(program, "expand-trees"), "");
  EXPECT_EQ(faultOf(program), "");
  for (std::int32_t root = 0; root < static_cast<std::int32_t>(program.schedule.topology.ranks());
       ++root) {
    CheckedCall call;
    call.count = 13;
    call.root = root;
    EXPECT_EQ(runChecked(program.schedule.view(), call), "") << "root " << root;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Trees,
                         testing::Values("1", "2", "2m", "3", "4", "5", "3m", "5m", "4x3", "2x5",
                                         "4mx3", "3mx4m", "2x2x2x2", "3x2+4", "2mx3m+2", "1x4x1",
                                         "4x3mx2"));

TEST(ExpandTrees, AreAsLargeOnAnyTorus) {
  const auto operations = [](const char* shape) {
    ir::Program program =
        treePlan(Collective::kAllreduce, shape, axesOf(shape, true), axesOf(shape, false), true);
    EXPECT_EQ(runPasses(program, "expand-trees"), "");
    return program.schedule.operations.size();
  };
  // On each of two arms of a ring the last node sends, those on the way receive, add and send, the
  // root receives and adds, which in the first reduction is one operation where it is the first
  // sum; of a broadcast there are a send and a receive.
  EXPECT_EQ(operations("8x5x6"), 9u + 12 + 12 + 3 * 4);
  EXPECT_EQ(operations("64x32x32"), 9u + 12 + 12 + 3 * 4);
  // The second arm of a ring of four has nobody on the way; a line has one arm.
  EXPECT_EQ(operations("4"), 7u + 4);
  EXPECT_EQ(operations("512m"), 4u + 2);
}

}  // namespace
}  // namespace torc::passes
