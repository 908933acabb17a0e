// Swing and groups: their rounds, and the topologies on which they are not tried.
#include "compiler/algorithms/rounds/rounds.h"

#include <gtest/gtest.h>
#include <llvm/Support/Error.h>

#include "compiler/algorithms/algorithm.h"
#include "model/machines/machine.h"
#include "model/simulator/simulator.h"
#include "tests/compiler/algorithms/rooted_checks.h"

namespace torc::compiler {
namespace {

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
