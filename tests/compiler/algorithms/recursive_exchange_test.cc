// Recursive doubling and multiplying: their rounds, counted; proved and run on shapes of one to
// five axes; every rank's sum is that of all ranks in their order.
#include "compiler/algorithms/recursive/recursive_exchange.h"

#include <algorithm>
#include <bit>

#include <gtest/gtest.h>
#include <llvm/Support/Error.h>

#include "compiler/algorithms/algorithm.h"
#include "compiler/algorithms/recursive/axis_rounds.h"
#include "ir/counted/counted_proof.h"
#include "ir/verifier/verifier.h"
#include "schedules/expansion/expand.h"
#include "tests/compiler/algorithms/ordered_checks.h"
#include "tests/compiler/algorithms/rooted_checks.h"

namespace torc::compiler {
namespace {

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

class RecursiveExchange : public testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  static Schedule compiled(std::uint32_t chunks, const std::string& order = "",
                           Collective collective = Collective::kAllreduce) {
    const auto& [algorithm, shape] = GetParam();
    return compiledInSegments(algorithm, collective, *parseTopology(shape, order), chunks);
  }
};

TEST_P(RecursiveExchange, IsProvedAndRuns) {
  for (const Collective collective :
       {Collective::kAllreduce, Collective::kReduceScatter, Collective::kAllgather,
        Collective::kScan, Collective::kExscan}) {
    for (const std::uint32_t chunks : {1u, 3u})
      expectProofAndRuns(compiled(chunks, "", collective).view());
  }
}

TEST_P(RecursiveExchange, IsProvedForACount) {
  for (const Collective collective :
       {Collective::kAllreduce, Collective::kReduceScatter, Collective::kAllgather,
        Collective::kScan, Collective::kExscan}) {
    const Schedule schedule = compiled(1, "", collective);
    const StatusOr<ir::CountedResult> result = ir::proveCounted(schedule.view(), 13);
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(result->fault, "");
  }
}

TEST_P(RecursiveExchange, AddsRanksInTheirOrder) {
  std::string names(parseTopology(std::get<1>(GetParam()))->orderString());
  for (int turn = 0; turn < 2; ++turn, std::ranges::reverse(names)) {
    const Schedule all = compiled(1, names);
    const auto ranks = static_cast<std::int32_t>(all.topology.ranks());
    expectRanksInOrder(all, [&](std::int32_t) { return ranks; });
    expectRanksInOrder(compiled(1, names, Collective::kScan),
                       [](std::int32_t rank) { return rank + 1; });
    expectRanksInOrder(compiled(1, names, Collective::kExscan),
                       [](std::int32_t rank) { return rank; });
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, RecursiveExchange,
                         testing::Combine(testing::Values("recursive-doubling",
                                                          "recursive-multiplying"),
                                          testing::Values("1", "2", "3", "6", "7", "8", "11", "13m",
                                                          "2x2", "4x3", "2x5+3", "3x1x4", "11x3",
                                                          "2x11", "4x2mx3", "3x2x2x2x2", "8x4")));

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

TEST(RecursiveExchanges, CannotGoRoundDamage) {
  Topology damaged = *parseTopology("4x4");
  ASSERT_TRUE(damaged.addDeadNode({1, 1}).ok());
  EXPECT_EQ(llvm::toString(planRecursiveDoubling({Collective::kAllreduce, damaged}).takeError()),
            "recursive-doubling: messages cannot go round damage");
}

}  // namespace
}  // namespace torc::compiler
