// Exact loads: against the formulas, the bound, and the verifier's.
#include "model/bounds/link_loads.h"

#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ir/verifier/verifier.h"
#include "model/bounds/bounds.h"
#include "schedules/root.h"
#include "tests/equal_weight_loads.h"
#include "tests/model/model_testing.h"
#include "tests/properties/random_case.h"

namespace torc::model {
namespace {

/// Largest total load over the bound.
Fraction ratioOf(const Schedule& schedule) {
  const LinkLoads loads = cantFail(exactLinkLoads(schedule.view()));
  const std::optional<Fraction> bound = equalLinkBound(schedule.collective, schedule.topology);
  return divide(loads.largest, bound.value()).value();
}

compiler::PipelineOptions balanced() {
  compiler::PipelineOptions options;
  options.weights = passes::ColorWeights::kBalanced;
  return options;
}

TEST(Fraction, IsInLowestTerms) {
  EXPECT_EQ(makeFraction(6, 4), (Fraction{3, 2}));
  EXPECT_EQ(makeFraction(0, 7), (Fraction{0, 1}));
  EXPECT_EQ(makeFraction(6, 4).text(), "3/2");
  EXPECT_EQ(makeFraction(8, 4).text(), "2");
  EXPECT_EQ(makeFraction(Uint128{1} << 100, 3).text(), "1267650600228229401496703205376/3");
  EXPECT_DOUBLE_EQ(makeFraction(1, 3).value(), 1.0 / 3);
}

TEST(Fraction, DividesWithoutOverflowWhereTheResultFits) {
  const Fraction large = makeFraction((Uint128{1} << 120) + 1, 3);
  EXPECT_EQ(divide(large, large), (Fraction{1, 1}));
  EXPECT_EQ(divide({1, 2}, {3, 4}), (Fraction{2, 3}));
  EXPECT_EQ(divide({1, 2}, {0, 1}), std::nullopt);
  EXPECT_EQ(divide(large, {1, (Uint128{1} << 120) - 1}), std::nullopt);
  EXPECT_EQ(multiply(Uint128{1} << 64, Uint128{1} << 64), std::nullopt);
}

// Color XY has 1/2, in two directions: X+ carries 3/4 of a quarter, then Y+ half of what is left.
TEST(LinkLoads, AreThoseOfTheBucketAlgorithm) {
  const Schedule schedule = compiled(Collective::kReduceScatter, "4x2");
  const LinkLoads loads = cantFail(exactLinkLoads(schedule.view()));
  ASSERT_EQ(loads.phases.size(), 2u);
  EXPECT_EQ(loads.phases[0].phase, 0u);
  ASSERT_EQ(loads.phases[0].loads.size(), 4u);
  const LinkClass links[] = {{0, 1}, {0, -1}, {1, 1}, {1, -1}};
  const Fraction first[] = {{3, 16}, {3, 16}, {1, 8}, {1, 8}};
  const Fraction second[] = {{3, 32}, {3, 32}, {1, 32}, {1, 32}};
  const Fraction total[] = {{9, 32}, {9, 32}, {5, 32}, {5, 32}};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(loads.phases[0].loads[i].link, links[i]);
    EXPECT_EQ(loads.phases[0].loads[i].share, first[i]);
    EXPECT_EQ(loads.phases[1].loads[i].share, second[i]);
    EXPECT_EQ(loads.totals[i].share, total[i]);
  }
  EXPECT_EQ(loads.largest, (Fraction{9, 32}));
}

// Every link of a line carries something else; together with what comes back all carry the same.
TEST(LinkLoads, TotalsAreOfOneLink) {
  const Schedule schedule = compiled(Collective::kAllreduce, "4m");
  const LinkLoads loads = cantFail(exactLinkLoads(schedule.view()));
  ASSERT_EQ(loads.phases.size(), 2u);
  EXPECT_EQ(loads.phases[0].loads[0].share, (Fraction{3, 4}));
  EXPECT_EQ(loads.phases[1].loads[0].share, (Fraction{3, 4}));
  EXPECT_EQ(loads.totals[0].share, (Fraction{1, 1}));
}

/// (p - 1) / cables, counted node by node.
Fraction sharePerCable(const Topology& topology) {
  std::uint64_t cables = 0;
  for (std::int32_t rank = 0; rank < static_cast<std::int32_t>(topology.ranks()); ++rank) {
    for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
      Coordinates to;
      // The two ways round of a line of two are one cable.
      const Coordinates from = topology.coordinatesOf(rank);
      cables += topology.hasLink(from, axis, 1, to);
    }
  }
  return makeFraction(topology.ranks() - 1, cables);
}

// A reduce-scatter and an allgather of overlapped weights together load every link with (p - 1) /
// E, the bound of an allreduce on E cables, whichever axes are rings and which lines.
RC_GTEST_PROP(LinkLoads, OfOverlappedHalvesAreTheBoundOnMixesOfRingsAndLines, ()) {
  const auto count = *rc::gen::inRange(1, 5);
  std::string shape;
  for (int i = 0; i < count; ++i) {
    shape += (i > 0 ? "x" : "") + std::to_string(*rc::gen::inRange(2, 7));
    if (*rc::gen::element(false, true)) shape += "m";
  }
  compiler::PipelineOptions options;
  options.weights = passes::ColorWeights::kOverlapped;
  options.chunks = *rc::gen::inRange(1, 4);
  options.in_flight = *rc::gen::inRange(0, 4);
  options.directions = *rc::gen::element(passes::DirectionModel::kBidirectional,
                                         passes::DirectionModel::kHalfLatency);
  const Schedule schedule = compiled(Collective::kAllreduce, shape, options);
  const LinkLoads loads = cantFail(exactLinkLoads(schedule.view()));
  const Fraction bound = sharePerCable(schedule.topology);
  for (const ExactLoad& load : loads.totals)
    RC_ASSERT(load.share == bound);
}

TEST(LinkLoads, CoresOfANodeAddUp) {
  EXPECT_EQ(cantFail(exactLinkLoads(compiled(Collective::kAllreduce, "4+3").view())).largest,
            (Fraction{3, 4}));
}

TEST(LinkLoads, BoundIsThatOfTheDimensionsLeft) {
  const auto bound = [](const char* shape) {
    return equalLinkBound(Collective::kAllgather, *parseTopology(shape));
  };
  EXPECT_EQ(bound("8"), (Fraction{7, 16}));
  EXPECT_EQ(bound("8m"), (Fraction{7, 8}));
  EXPECT_EQ(bound("4x4x4"), (Fraction{21, 128}));
  EXPECT_EQ(bound("4x1x4"), (Fraction{15, 64}));
  EXPECT_EQ(bound("4x4+4"), (Fraction{15, 64}));
  EXPECT_EQ(bound("8x4x2m"), (Fraction{63, 320}));
  EXPECT_EQ(bound("32x2m"), (Fraction{21, 64}));  // both dimensions count
  EXPECT_EQ(bound("2x32m"), (Fraction{31, 64}));  // the line alone: (1/2 - 1/64) / 1
  EXPECT_EQ(bound("1"), (Fraction{0, 1}));
  EXPECT_EQ(equalLinkBound(Collective::kAllreduce, *parseTopology("8")), (Fraction{7, 8}));
  Topology unequal = *parseTopology("4x4");
  unequal.axes[1].bandwidth = 0.5;
  EXPECT_EQ(equalLinkBound(Collective::kAllgather, unequal), std::nullopt);
}

TEST(LinkLoads, EqualWeightsPayOnAsymmetricTori) {
  for (const auto& [shape, ratio] : kEqualWeightLoads) {
    EXPECT_NEAR(ratioOf(compiled(Collective::kAllreduce, shape)).value(), ratio, 0.0005) << shape;
    EXPECT_EQ(ratioOf(compiled(Collective::kAllreduce, shape, balanced())), (Fraction{1, 1}))
        << shape;
  }
}

RC_GTEST_PROP(LinkLoads, BoundIsThatOfTheMachine, ()) {
  const int dimensions = *rc::gen::inRange(1, 6);
  std::string shape;
  for (int i = 0; i < dimensions; ++i) {
    shape += (i > 0 ? "x" : "") + std::to_string(*rc::gen::inRange(1, 8));
    if (*rc::gen::arbitrary<bool>()) shape += "m";
  }
  const Topology topology = *parseTopology(shape);
  const auto collective = static_cast<Collective>(*rc::gen::inRange(0, kCollectiveCount));
  BoundRequest request;
  request.collective = rowOf(collective);
  request.bytes = 1;
  const double expected = lowerBound(unitMachine(topology), request).bandwidth_s;
  RC_LOG() << shape << " " << rowOf(collective).name << std::endl;
  RC_ASSERT(std::abs(equalLinkBound(collective, topology)->value() - expected) <= 1e-12);
}

RC_GTEST_PROP(LinkLoads, BalancedWeightsReachTheBound, ()) {
  const int dimensions = *rc::gen::inRange(1, 6);
  std::string shape;
  for (int i = 0; i < dimensions; ++i)
    shape += (i > 0 ? "x" : "") + std::to_string(*rc::gen::inRange(i == 0 ? 2 : 1, 12));
  const Collective collective =
      *rc::gen::element(Collective::kAllreduce, Collective::kReduceScatter, Collective::kAllgather);
  RC_LOG() << shape << std::endl;
  RC_ASSERT(ratioOf(compiled(collective, shape, balanced())) == (Fraction{1, 1}));
}

RC_GTEST_PROP(LinkLoads, AreTheVerifiers, ()) {
  const CompileCase test_case = drawCase(64);
  RC_LOG() << test_case.text() << std::endl;
  const Schedule schedule = compileCase(test_case);
  const LinkLoads loads = cantFail(exactLinkLoads(schedule.view()));
  std::map<std::tuple<std::uint32_t, std::uint32_t, int>, double> expected;
  for (const ir::LinkLoad& load : ir::verify(schedule.view()).loads) {
    // What goes from core to core takes no link.
    if (schedule.topology.axes[load.axis].kind == AxisKind::kCore) continue;
    expected[{load.phase, load.axis, load.sign}] = load.share;
  }
  // Of a broadcast the verifier tells the loads of the worst root, exactLinkLoads those of rank 0.
  const bool at_most = hasRootRelativeGuard(schedule.view());
  for (const LinkLoads::Phase& phase : loads.phases) {
    for (const ExactLoad& load : phase.loads) {
      const auto found = expected.find({phase.phase, load.link.axis, load.link.sign});
      RC_ASSERT(found != expected.end());
      const double more = found->second - load.share.value();
      RC_ASSERT(more > -1e-12);
      RC_ASSERT((at_most || more < 1e-12));
      expected.erase(found);
    }
  }
  RC_ASSERT((at_most || expected.empty()));
}

}  // namespace
}  // namespace torc::model
