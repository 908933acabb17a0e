// The bucket algorithm against its formulas: loads of links, numbers of steps. For a broadcast by
// scatter and allgather, and a reduce by reduce-scatter and gather: the load of the busiest link.
#include "compiler/algorithms/bucket/bucket.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "ir/verifier/verifier.h"
#include "tests/equal_weight_loads.h"

namespace torc::compiler {
namespace {

Schedule compiled(Collective collective, std::string_view shape, const char* algorithm = "bucket",
                  const PipelineOptions& options = {}) {
  const Topology topology = *parseTopology(shape);
  const Algorithm* found = cantFail(findAlgorithm(algorithm));
  passes::PassManagerOptions manager;
  manager.verify_each = false;
  return cantFail(compile({collective, topology}, *found, pipelineOf(*found, options), manager))
      .schedule;
}

/// Total load by axis and sign.
std::map<std::pair<std::uint32_t, int>, double> loadsOf(const Schedule& schedule) {
  const ir::VerifyResult result = ir::verify(schedule.view());
  EXPECT_TRUE(result.ok());
  std::map<std::pair<std::uint32_t, int>, double> loads;
  for (const ir::LinkLoad& load : result.loads)
    loads[{load.axis, load.sign}] += load.share;
  return loads;
}

TEST(Bucket, PlansOnePhasePerAxisInReverseForTheAllgather) {
  const ir::Program program =
      cantFail(lowerBucket({Collective::kAllreduce, *parseTopology("4x3+2")}));
  const Color& color = program.schedule.colors.at(0);
  EXPECT_EQ(color.order[0], 2);  // the cores
  EXPECT_EQ(color.order[1], 0);
  EXPECT_EQ(color.order[2], 1);
  const ir::PlanOperation barrier{ir::PlanKind::kPhaseBarrier, 0, 0};
  EXPECT_EQ(program.plan, (std::vector<ir::PlanOperation>{{ir::PlanKind::kRingReduceScatter, 0, 2},
                                                          barrier,
                                                          {ir::PlanKind::kRingReduceScatter, 0, 0},
                                                          barrier,
                                                          {ir::PlanKind::kRingReduceScatter, 0, 1},
                                                          barrier,
                                                          {ir::PlanKind::kRingAllgather, 0, 1},
                                                          barrier,
                                                          {ir::PlanKind::kRingAllgather, 0, 0},
                                                          barrier,
                                                          {ir::PlanKind::kRingAllgather, 0, 2}}));
}

// The lower bound (paper, figure 2): every link carries (p-1)/p / (2N) of the vector, twice that in
// an allreduce.
TEST(Bucket, MeetsTheLowerBoundOnSymmetricTori) {
  for (const auto& [shape, dimensions, ranks] :
       {std::tuple{"4x4", 2, 16}, {"3x3x3", 3, 27}, {"2x2x2x2", 4, 16}, {"5", 1, 5}}) {
    for (const Collective collective :
         {Collective::kAllreduce, Collective::kReduceScatter, Collective::kAllgather}) {
      const double bound =
          (ranks - 1.0) / ranks / (2 * dimensions) * (collective == Collective::kAllreduce ? 2 : 1);
      for (const auto& [link, load] : loadsOf(compiled(collective, shape))) {
        EXPECT_NEAR(load, bound, 1e-12) << shape;
      }
    }
  }
}

// Equal weights on asymmetric tori: the largest total load over (p-1)/(pN), from exact rationals.
TEST(Bucket, EqualWeightsCostWhatTheyShouldOnAsymmetricTori) {
  for (const auto& [shape, ratio] : kEqualWeightLoads) {
    const Schedule schedule = compiled(Collective::kReduceScatter, shape);
    const double ranks = static_cast<double>(schedule.topology.ranks());
    double largest = 0;
    for (const auto& [link, load] : loadsOf(schedule))
      largest = std::max(largest, load);
    const double bound = (ranks - 1) / ranks / (2 * schedule.topology.dimensions());
    EXPECT_NEAR(largest / bound, ratio, 0.0006) << shape;
  }
}

TEST(Bucket, ReceivesAsManyMessagesAsThereAreSteps) {
  // 2N colors and directions, sum (d-1) steps each.
  std::size_t receives = 0;
  for (const Operation& operation : compiled(Collective::kReduceScatter, "5x4x3").operations) {
    receives += torc::receives(operation.kind);
  }
  EXPECT_EQ(receives, 6u * (4 + 3 + 2));
}

/// Of an allgather phase by phase, the steps one after the other: of each phase, what its longest
/// stream receives.
std::size_t stepsOf(const Schedule& schedule) {
  std::map<std::uint32_t, std::map<std::uint32_t, std::size_t>> receives;
  for (const Operation& operation : schedule.operations)
    receives[operation.phase][operation.stream] += torc::receives(operation.kind);
  std::size_t steps = 0;
  for (const auto& [phase, of_streams] : receives) {
    std::size_t most = 0;
    for (const auto& [stream, count] : of_streams)
      most = std::max(most, count);
    steps += most;
  }
  return steps;
}

// As many bytes in the steps of the longest way: sum floor(d/2) of a color's axes, and a line's
// d-1.
TEST(Bucket, HalfLatencyTakesHalfTheStepsForTheSameLoads) {
  PipelineOptions half;
  half.directions = passes::DirectionModel::kHalfLatency;
  half.dependences = passes::DependenceKind::kPhase;
  for (const auto& [shape, steps] : {std::pair{"5", 2u},
                                     {"6", 3u},
                                     {"2", 1u},
                                     {"4x4x4", 6u},
                                     {"8x8x8", 12u},
                                     {"4x3m", 4u},
                                     {"3x2+2", 3u},
                                     {"6x5x2x1", 6u}}) {
    // One color visits all axes.
    EXPECT_EQ(stepsOf(compiled(Collective::kAllgather, shape, "bucket-1d", half)), steps) << shape;
    EXPECT_EQ(stepsOf(compiled(Collective::kAllreduce, shape, "bucket-1d", half)), 2 * steps)
        << shape;
    for (const char* algorithm : {"bucket", "bucket-1d"}) {
      for (int c = 0; c < kCollectiveCount; ++c) {
        const CollectiveRow& row = rowOf(static_cast<Collective>(c));
        if (row.isRooted() || row.isPrefix() || row.blocks != BlockSpace::kNode) continue;
        const auto collective = static_cast<Collective>(c);
        const auto loads = loadsOf(compiled(collective, shape, algorithm, half));
        const auto expected = loadsOf(compiled(collective, shape, algorithm));
        ASSERT_EQ(loads.size(), expected.size()) << shape;
        for (const auto& [link, load] : expected)
          EXPECT_NEAR(loads.at(link), load, 1e-12) << shape;
      }
    }
  }
}

TEST(Bucket, OneDimensionalUsesOneAxisAtATime) {
  const Schedule schedule = compiled(Collective::kAllreduce, "4x3", "bucket-1d");
  EXPECT_EQ(schedule.colors.size(), 1u);
  std::map<std::uint32_t, std::uint32_t> axis_of_phase;
  for (const ir::LinkLoad& load : ir::verify(schedule.view()).loads) {
    EXPECT_EQ(axis_of_phase.try_emplace(load.phase, load.axis).first->second, load.axis);
  }
  EXPECT_EQ(axis_of_phase.size(), 4u);
}

// Equation 1: in one direction on a ring of p every link carries (p-1)/p of the vector.
TEST(Bucket, OneDirectionOfARingCarriesAll) {
  PipelineOptions options;
  options.directions = passes::DirectionModel::kUnidirectional;
  const auto loads = loadsOf(compiled(Collective::kReduceScatter, "7", "bucket-1d", options));
  ASSERT_EQ(loads.size(), 1u);
  EXPECT_NEAR(loads.at({0, 1}), 6.0 / 7, 1e-12);
}

// Were every step held against all before it, 8 times the ring would take 64 times the steps.
TEST(Bucket, ProofsOfLongRingsGrowWithTheRing) {
  for (const Collective collective : {Collective::kAllreduce, Collective::kReduceScatter}) {
    std::array<std::uint64_t, 2> work{};
    for (std::size_t i = 0; i < 2; ++i) {
      const ir::VerifyResult result =
          ir::verify(compiled(collective, i == 0 ? "512x2" : "4096x2").view());
      EXPECT_TRUE(result.ok());
      work[i] = result.work;
    }
    EXPECT_LT(work[1], 24 * work[0]) << rowOf(collective).name;
  }
}

TEST(Bucket, KeepsScratchSmall) {
  // Two blocks of the first phase for each ring, 1/d of a color each.
  const ir::VerifyResult result = ir::verify(compiled(Collective::kAllreduce, "8x8x8").view());
  EXPECT_NEAR(result.scratch_share, 2.0 / 8, 1e-9);
}

// Each of the two halves loads the busiest link with (p-1)/p of the vector over 2N links.
TEST(RingsFromRootLoads, AreTwiceTheBound) {
  for (const auto& [algorithm, collective] :
       {std::pair("scatter-allgather", Collective::kBroadcast),
        std::pair("reduce-scatter-gather", Collective::kReduce)}) {
    for (const passes::DirectionModel directions :
         {passes::DirectionModel::kBidirectional, passes::DirectionModel::kHalfLatency}) {
      double busiest = 0;
      for (const auto& [link, load] :
           loadsOf(compiled(collective, "8x8x8", algorithm, {.directions = directions})))
        busiest = std::max(busiest, load);
      EXPECT_NEAR(busiest, 2.0 * 511 / 512 / 6, 1e-12);
    }
  }
}

}  // namespace
}  // namespace torc::compiler
