// Plans of exchanges: for any order of the axes and any shape, every block arrives.
#include <algorithm>
#include <bit>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "ir/counted/counted_proof.h"
#include "tests/draw.h"
#include "tests/passes/pass_testing.h"
#include "tests/runtime/execution/checked_job.h"

namespace torc::passes {
namespace {

ir::Program exchangePlan(const std::string& shape, std::uint32_t colors,
                         const std::vector<ir::PlanOperation>& plan) {
  ir::Program program = planOf(Collective::kAlltoall, shape, colors);
  program.plan = plan;
  return program;
}

/// Up to four axes, some of them lines or of one node, and sometimes cores; at most 40 ranks.
std::string drawShape() {
  std::string shape;
  std::uint32_t room = 40;
  const std::uint32_t dimensions = draw(1, 4);
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    const std::uint32_t size = draw(1, std::min(room, 6u));
    room /= size;
    shape += (i > 0 ? "x" : "") + std::to_string(size) + (draw(0, 2) == 0 ? "m" : "");
  }
  if (room >= 2 && draw(0, 2) == 0) shape += "+" + std::to_string(draw(2, std::min(room, 3u)));
  return shape;
}

/// The exchanges of a color: its axes in a random partition, one after the other; those along one
/// axis from neighbour to neighbour, or in the fewest messages, or not.
std::vector<ir::PlanOperation> drawExchanges(std::uint32_t color, std::uint32_t axis_count) {
  std::vector<ir::PlanOperation> phases(draw(1, axis_count));
  for (std::uint32_t axis = 0; axis < axis_count; ++axis)
    phases[draw(0, static_cast<std::uint32_t>(phases.size() - 1))].axes |= 1u << axis;
  std::erase_if(phases, [](const ir::PlanOperation& phase) { return phase.axes == 0; });
  for (ir::PlanOperation& phase : phases) {
    phase.kind = ir::PlanKind::kExchange;
    phase.color = color;
    if (!std::has_single_bit(phase.axes) || draw(0, 1) == 0) continue;
    phase.kind = draw(0, 1) == 0 ? ir::PlanKind::kRingAlltoall : ir::PlanKind::kBruckAlltoall;
    phase.axis = static_cast<std::uint32_t>(std::countr_zero(std::exchange(phase.axes, 0)));
  }
  return phases;
}

/// Where a ring of four or six nodes has an exchange, sometimes goes to every second or third node
/// before, some of the other axes with it.
std::vector<ir::PlanOperation> drawStrides(const Topology& topology,
                                           const std::vector<ir::PlanOperation>& phases) {
  std::vector<ir::PlanOperation> plan;
  for (ir::PlanOperation phase : phases) {
    for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
      const std::uint32_t size = topology.axes[axis].size;
      if (phase.kind != ir::PlanKind::kExchange || (phase.axes >> axis & 1) == 0) continue;
      if (!topology.axes[axis].isRing() || size < 4 || size % 2 != 0 || draw(0, 1) == 0) continue;
      ir::PlanOperation strided = phase;
      strided.axis = axis;
      strided.stride = draw(0, 1) == 0 ? 2 : size / 2;
      strided.axes = (phase.axes & draw(0, (1u << topology.axis_count) - 1)) | 1u << axis;
      phase.axes &= ~strided.axes | 1u << axis;
      plan.push_back(strided);
      break;
    }
    plan.push_back(phase);
  }
  return plan;
}

RC_GTEST_PROP(ExpandExchanges, EveryPartitionOfTheAxesIsProved, ()) {
  const std::string shape = drawShape();
  const Topology topology = *parseTopology(shape);
  const std::uint32_t colors = draw(1, 2);
  std::vector<std::vector<ir::PlanOperation>> of_color;
  for (std::uint32_t color = 0; color < colors; ++color)
    of_color.push_back(drawStrides(topology, drawExchanges(color, topology.axis_count)));
  // The k-th exchanges of all colors, with a barrier behind them or without.
  std::vector<ir::PlanOperation> plan;
  for (std::size_t k = 0; k < 2 * topology.axis_count; ++k) {
    for (const auto& exchanges : of_color) {
      if (k < exchanges.size()) plan.push_back(exchanges[k]);
    }
    if (draw(0, 3) > 0) plan.push_back({ir::PlanKind::kPhaseBarrier});
  }
  ir::Program program = exchangePlan(shape, colors, plan);
  const std::string pipeline =
      std::string(draw(0, 1) ? "split-directions," : "") +
      "expand-exchanges{order=" + (draw(0, 1) ? "fixed" : "shuffled") +
      ",window=" + *rc::gen::element<std::string>("all", "1", "3") + "}" +
      *rc::gen::element<std::string>("", ",infer-dependences,allocate-scratch",
                                     ",infer-dependences{by=phase},allocate-scratch{depth=1}",
                                     ",allocate-scratch", ",pipeline{chunks=2}",
                                     ",pipeline{chunks=2,sends=in-turn},allocate-scratch");
  const std::string text = shape + ": " + pipeline + "\n" + textOf(program);
  if (const std::string fault = runPasses(program, pipeline); !fault.empty()) {
    RC_FAIL(fault + "\n" + text);
  }
  if (const std::string fault = faultOf(program); !fault.empty()) RC_FAIL(fault + "\n" + text);
  const auto counted = ir::proveCounted(program.schedule.view(), draw(0, 5));
  if (!counted.ok()) RC_FAIL(counted.status().message() + "\n" + text);
  if (!counted->fault.empty()) RC_FAIL(counted->fault + "\n" + text);
}

TEST(ExpandExchanges, AreAsLargeOnAnyTorus) {
  const ir::PlanOperation barrier{ir::PlanKind::kPhaseBarrier};
  for (const std::string shape : {"4x4x4", "64x32x32", "512x2x2m", "64mx64mx64m"}) {
    SCOPED_TRACE(shape);
    ir::Program program = exchangePlan(shape, 1,
                                       {{ir::PlanKind::kExchange, 0, 0, false, 0b001},
                                        barrier,
                                        {ir::PlanKind::kExchange, 0, 0, false, 0b110}});
    ASSERT_EQ(runPasses(program, "split-directions,expand-exchanges"), "");
    EXPECT_EQ(faultOf(program), "");
    const bool has_ring = shape != "64mx64mx64m";  // then there are two halves
    EXPECT_EQ(program.schedule.operations.size(), has_ring ? 12u : 6u);
    EXPECT_EQ(program.schedule.frames.size(), has_ring ? 2u : 1u);
  }
}

// Of a ring a direction of a part takes a message that stays in each step, and one that goes on in
// each but the last; where the ring is even there are two parts. Bruck's takes a round for each
// power of two.
TEST(ExpandExchanges, AreAsLongAsTheWayToTheNodeOppositeOrItsLogarithm) {
  constexpr auto kRing = ir::PlanKind::kRingAlltoall, kBruck = ir::PlanKind::kBruckAlltoall;
  for (const auto& [kind, shape, operations] : {std::tuple(kRing, "2", 6u),
                                                {kRing, "3", 5u},
                                                {kRing, "4", 18u},
                                                {kRing, "7", 21u},
                                                {kRing, "64", 498u},
                                                {kBruck, "2", 3u},
                                                {kBruck, "3", 6u},
                                                {kBruck, "4", 6u},
                                                {kBruck, "5", 9u},
                                                {kBruck, "64", 18u},
                                                {kBruck, "100", 21u}}) {
    SCOPED_TRACE(shape);
    ir::Program program = exchangePlan(shape, 1, {{kind, 0, 0}});
    ASSERT_EQ(runPasses(program, "split-directions,expand-exchanges,allocate-scratch"), "");
    EXPECT_EQ(faultOf(program), "");
    EXPECT_EQ(program.schedule.operations.size(), operations);
  }
}

TEST(ExpandExchanges, SendHalfOfWhatIsOppositeEachWay) {
  const ir::PlanOperation ring{ir::PlanKind::kExchange, 0, 0, false, 1};
  ir::Program whole = exchangePlan("4", 1, {ring}), halves = whole;
  ASSERT_EQ(runPasses(whole, "split-directions{model=unidirectional},expand-exchanges"), "");
  ASSERT_EQ(runPasses(halves, "split-directions,expand-exchanges"), "");
  ASSERT_EQ(whole.schedule.peer_loops.size(), 1u);
  EXPECT_EQ(whole.schedule.peer_loops[0].first[0], -1);
  ASSERT_EQ(halves.schedule.peer_loops.size(), 2u);
  EXPECT_EQ(halves.schedule.peer_loops[0].first[0], -1);
  EXPECT_EQ(halves.schedule.peer_loops[1].first[0], -2);
}

}  // namespace
}  // namespace torc::passes
