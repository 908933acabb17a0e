// What is chosen for a size, and how close it comes to the lower bound: simulated, so always the
// same.
#include "compiler/choice.h"

#include <gtest/gtest.h>

#include "compiler/target.h"
#include "model/bounds/bounds.h"

namespace torc {
namespace {

constexpr double kLarge = 1 << 30;

Target targetOf(llvm::StringRef shape, llvm::StringRef machine = "") {
  return cantFail(readTarget(shape, "", machine));
}

Choice chooseFor(Collective collective, const Target& target, double bytes,
                 const ChoiceLimits& limits = {}) {
  return cantFail(choose({collective, target.topology}, target.machine, bytes, limits));
}

/// Predicted time of the best candidate over what bounds a reduce_scatter followed by an allgather:
/// on tori that is the lower bound.
double ratioToBound(Collective collective, const Target& target) {
  BoundRequest request;
  request.collective = cantFail(parseBoundedCollective(rowOf(collective).name));
  request.bytes = kLarge;
  const Bound bound = lowerBound(target.machine, request);
  const double least = std::max(bound.bound_s, bound.reduce_scatter_allgather_s);
  return chooseFor(collective, target, kLarge).best().predicted_s / least;
}

class LargeVectors : public testing::TestWithParam<const char*> {};

TEST_P(LargeVectors, ComeWithinThreePercentOfTheBound) {
  const Target target = targetOf(GetParam());
  for (int c = 0; c < kCollectiveCount; ++c) {
    const auto collective = static_cast<Collective>(c);
    EXPECT_LE(ratioToBound(collective, target), 1.03) << rowOf(collective).name;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, LargeVectors,
                         testing::Values("8x8x8", "16x8x8", "8x32x16", "40x32x16", "64x32x32",
                                         "4x4x2", "2x3x5", "8x2", "16x4", "12x10x3x2", "2x2x32",
                                         "4x4x64", "4x4x4m", "8x4x2m", "16x2mx2m", "6mx4m"),
                         [](const auto& instance) { return std::string("On") + instance.param; });

TEST(Choice, UnequalLinksToo) {
  Target target = targetOf("4x4x4");
  target.machine.dimensions[2].bandwidth /= 2;
  target.topology = cantFail(topologyOf(target.machine));
  for (int c = 0; c < kCollectiveCount; ++c) {
    EXPECT_LE(ratioToBound(static_cast<Collective>(c), target), 1.03);
  }
}

TEST(Choice, ADeadLinkCostsOnlyItsShare) {
  Target target = targetOf("4x4x4");
  ASSERT_FALSE(addDamage(target, {"0,0,1:Z"}, {}));
  for (int c = 0; c < kCollectiveCount; ++c) {
    EXPECT_LE(ratioToBound(static_cast<Collective>(c), target), 1.03);
  }
}

TEST(Choice, SmallVectorsTakeFewStepsLargeOnesManyChunks) {
  const Target target = targetOf("4x4x2");
  const Candidate small = chooseFor(Collective::kAllreduce, target, 1 << 10).best();
  const Candidate large = chooseFor(Collective::kAllreduce, target, kLarge).best();
  EXPECT_EQ(small.options.chunks, 1u);
  EXPECT_GE(large.options.chunks, 8u);
  EXPECT_EQ(large.options.weights, "balanced");
  EXPECT_LT(small.steps, large.steps);
  EXPECT_LT(small.messages, large.messages);
}

TEST(Choice, CandidatesAreInOrderAndTheFirstIsNoSlowerThanOnePercent) {
  const Choice choice = chooseFor(Collective::kReduceScatter, targetOf("5x4"), 1 << 20);
  ASSERT_GE(choice.candidates.size(), 8u);
  double before = 0;
  for (std::size_t i = 1; i < choice.candidates.size(); ++i) {
    const Candidate& candidate = choice.candidates[i];
    if (!candidate.refusal.empty()) continue;
    // Two chunks in flight that are not simulated rank by rank rank 5 % lower.
    EXPECT_GE(1.05 * candidate.predicted_s, before);
    EXPECT_LE(choice.best().predicted_s, 1.01 * 1.05 * candidate.predicted_s);
    before = candidate.predicted_s;
  }
}

TEST(Choice, WhatIsSettledStays) {
  ChoiceLimits limits;
  limits.algorithm = cantFail(findAlgorithm("bucket"));
  limits.weights = "equal";
  limits.chunks = 3;
  limits.in_flight = 1;
  limits.dependences = "region";
  limits.directions = "unidirectional";
  const Choice choice = chooseFor(Collective::kAllgather, targetOf("5x4"), 1 << 20, limits);
  ASSERT_EQ(choice.candidates.size(), 1u);
  EXPECT_EQ(choice.best().description(),
            "bucket, equal weights, unidirectional, 3 chunks, 1 in flight");
}

}  // namespace
}  // namespace torc
