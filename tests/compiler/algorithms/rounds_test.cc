// Swing and groups: their rounds, and the topologies without them. Recursive doubling and
// multiplying: their rounds, and the received blocks of an allgather, counted.
#include "compiler/algorithms/rounds/rounds.h"

#include <bit>

#include <gtest/gtest.h>
#include <llvm/Support/Error.h>

#include "compiler/algorithms/algorithm.h"
#include "compiler/algorithms/recursive/axis_rounds.h"
#include "ir/verifier/verifier.h"
#include "model/machines/machine.h"
#include "model/simulator/simulator.h"
#include "schedules/expansion/expand.h"
#include "tests/compiler/algorithms/checks.h"

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

/// Goes through the rounds: the nodes of which every node has heard, which must be consecutive and
/// disjoint from what comes.
void expectAllHearOfAll(const AxisRounds& axis) {
  struct Heard {
    std::uint32_t first, end;
  };
  std::vector<Heard> heard;
  for (std::uint32_t p = 0; p < axis.places(); ++p) {
    const std::uint32_t at = axis.coordinateOf(p);
    heard.push_back({p < axis.folded ? at - 1 : at, at + 1});
    EXPECT_FALSE(axis.isFolded(at));
  }
  for (const AxisRound& round : axis.rounds) {
    const std::vector<Heard> before = heard;
    for (std::uint32_t p = 0; p < axis.places(); ++p) {
      const std::uint32_t lowest = p - p / round.stride % round.radix * round.stride;
      heard[p] = before[lowest];
      for (std::uint32_t d = 1; d < round.radix; ++d) {
        const Heard& next = before[lowest + d * round.stride];
        EXPECT_EQ(heard[p].end, next.first) << axis.size;
        heard[p].end = next.end;
      }
    }
  }
  for (const Heard& all : heard) {
    EXPECT_EQ(all.first, 0u) << axis.size;
    EXPECT_EQ(all.end, axis.size);
  }
}

TEST(AxisRounds, EveryNodeHearsOfAllOthersOnce) {
  for (std::uint32_t size = 1; size <= 300; ++size) {
    for (const std::uint32_t messages : {1u, 3u, 7u}) {
      const AxisRounds axis = axisRounds(size, messages);
      expectAllHearOfAll(axis);
      if (axis.folded > 0) {
        EXPECT_TRUE(std::has_single_bit(axis.places())) << size;
      }
      for (const AxisRound& round : axis.rounds) {
        const bool is_prime = round.radix == 3 || round.radix == 5 || round.radix == 7;
        EXPECT_TRUE(round.radix <= messages + 1 || is_prime) << size;
      }
    }
  }
}

TEST(AxisRounds, AreTheFewestWithTheFewestMessages) {
  EXPECT_EQ(axisRounds(8, 1).rounds, (std::vector<AxisRound>{{2, 1}, {2, 2}, {2, 4}}));
  EXPECT_EQ(axisRounds(8, 7).rounds, (std::vector<AxisRound>{{8, 1}}));
  EXPECT_EQ(axisRounds(16, 7).rounds, (std::vector<AxisRound>{{4, 1}, {4, 4}}));
  EXPECT_EQ(axisRounds(6, 1).rounds, (std::vector<AxisRound>{{3, 1}, {2, 3}}));
  EXPECT_EQ(axisRounds(11, 1).folded, 3u);
  EXPECT_EQ(axisRounds(1, 1).rounds.size(), 0u);
}

// Every block comes to a node once, and goes from it once for each of the others at most.
TEST(RecursiveExchanges, AnAllgatherReceivesWhatIsMissing) {
  const Schedule schedule =
      compiledInSegments("recursive-doubling", Collective::kAllgather, *parseTopology("8x4x11"), 1);
  for (const std::int32_t rank : {0, 5, 131, 351}) {
    const FlatProgram program = *expand(schedule.view(), rank, {1, {}, {}});
    std::uint64_t received = 0;
    for (const FlatOperation& operation : program.operations)
      received += receives(operation.kind) ? operation.dst.elements : 0;
    EXPECT_EQ(received, schedule.view().topology.ranks() - 1);
  }
}

// Blocks come to single nodes in several messages: what the nodes hold is few facts all the same.
TEST(RecursiveExchanges, AnAllgatherIsProvedQuicklyWhateverItsGroups) {
  for (const char* algorithm : {"recursive-doubling", "recursive-multiplying"}) {
    for (const char* shape : {"9x9x9", "8x8x8", "16x16x16", "11x6"}) {
      const Schedule schedule =
          compiledInSegments(algorithm, Collective::kAllgather, *parseTopology(shape), 1);
      const ir::VerifyResult result = ir::verify(schedule.view());
      EXPECT_TRUE(result.ok());
      EXPECT_LT(result.work, 3'000'000u) << algorithm << " on " << shape;
    }
  }
}

}  // namespace
}  // namespace torc::compiler
