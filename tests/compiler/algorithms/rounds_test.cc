// Swing and groups: proved, run and counted on shapes of one to five axes; their rounds and
// messages; what is not tried.
#include "compiler/algorithms/rounds/rounds.h"

#include <gtest/gtest.h>
#include <llvm/Support/Error.h>

#include "compiler/algorithms/algorithm.h"
#include "ir/counted/counted_proof.h"
#include "model/machines/machine.h"
#include "model/simulator/simulator.h"
#include "tests/compiler/algorithms/rooted_checks.h"

namespace torc::compiler {
namespace {

constexpr Collective kServed[] = {Collective::kAllreduce, Collective::kReduceScatter,
                                  Collective::kAllgather};

class Rounds : public testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  static Schedule compiled(Collective collective, std::uint32_t chunks) {
    const auto& [algorithm, shape] = GetParam();
    return compiledInSegments(algorithm, collective, *parseTopology(shape), chunks);
  }
};

TEST_P(Rounds, AreProvedAndRun) {
  for (const Collective collective : kServed) {
    for (const std::uint32_t chunks : {1u, 2u})
      expectProofAndRuns(compiled(collective, chunks).view());
  }
}

TEST_P(Rounds, AreProvedForACount) {
  for (const Collective collective : kServed) {
    const Schedule schedule = compiled(collective, 1);
    const StatusOr<ir::CountedResult> result = ir::proveCounted(schedule.view(), 13);
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(result->fault, "");
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Rounds,
                         testing::Combine(testing::Values("swing", "groups"),
                                          testing::Values("1", "2", "3", "5", "6", "7", "8", "12",
                                                          "11m", "2x2", "2m", "4x3", "6x5", "2x5+3",
                                                          "3x1x4", "9x2", "4x2mx3", "2x2x2x1x2",
                                                          "8x2", "10x3")));

/// Start-ups one after the other: on `generic` a start-up takes a microsecond, and next to no bytes
/// take no time.
double startUps(const char* algorithm, const char* shape) {
  const model::Machine machine =
      cantFail(model::partitionOf(cantFail(model::findMachine("generic")), shape));
  const Schedule schedule =
      compiledInSegments(algorithm, Collective::kAllreduce, *parseTopology(shape), 1);
  model::SimulateOptions options;
  options.bytes = 1e-3;
  return cantFail(model::simulate(schedule.view(), machine, options)).makespan_s / machine.alpha;
}

TEST(RoundsOf, AreAsManyStartUpsAsTheirRounds) {
  EXPECT_NEAR(startUps("swing", "8x4"), 2 * (3 + 2), 1e-3);
  EXPECT_NEAR(startUps("swing", "6x3"), 2 * (3 + 1), 1e-3);
  EXPECT_NEAR(startUps("groups", "8x4"), 2 * (1 + 1), 1e-3);
  EXPECT_NEAR(startUps("groups", "16x4"), 2 * (2 + 1), 1e-3);
}

TEST(RoundsOf, WhatTakesLongToProveIsNotTried) {
  const auto tried = [](const char* algorithm, auto estimate, const char* shape) {
    const CollectiveSpec spec{Collective::kAllreduce, *parseTopology(shape)};
    return isWorthTrying(*cantFail(findAlgorithm(algorithm)), spec) &&
           estimate(spec).proof_steps <= kMostProofSteps;
  };
  for (const char* shape : {"8x8x8", "16x16x16", "8x32x16", "32x32"}) {
    EXPECT_TRUE(tried("swing", estimateSwing, shape)) << shape;
    EXPECT_TRUE(tried("groups", estimateGroups, shape)) << shape;
  }
  EXPECT_FALSE(tried("swing", estimateSwing, "32x32x32"));
  EXPECT_TRUE(tried("groups", estimateGroups, "32x32x32"));
  for (const char* shape : {"64x32x32", "256x4", "1"}) {
    EXPECT_FALSE(tried("swing", estimateSwing, shape)) << shape;
    EXPECT_FALSE(tried("groups", estimateGroups, shape)) << shape;
  }
}

}  // namespace
}  // namespace torc::compiler
