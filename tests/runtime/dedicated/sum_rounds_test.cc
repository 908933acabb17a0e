// Every contribution exactly once in every sum, and all of them in the same order.
#include "runtime/dedicated/sum_rounds.h"

#include <algorithm>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace torc::runtime::dedicated {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// What each rank has at the end: ranks, as ServersSum brings them together.
std::vector<std::vector<int>> summed(int ranks) {
  const SumRounds rounds = planSumRounds(ranks);
  std::vector<std::vector<int>> has(static_cast<std::size_t>(ranks));
  const auto of = [&](int rank) -> std::vector<int>& {
    return has[static_cast<std::size_t>(rank)];
  };
  for (int rank = 0; rank < ranks; ++rank) {
    of(rank).push_back(rank);
    if (rank >= rounds.inside) of(rank - rounds.inside).push_back(rank);
  }
  for (std::size_t round = 0; round < rounds.group_sizes.size(); ++round) {
    const std::vector<std::vector<int>> before = has;
    for (int rank = 0; rank < rounds.inside; ++rank) {
      of(rank).clear();
      for (const int member : rounds.group(rank, round)) {
        const std::vector<int>& more = before[static_cast<std::size_t>(member)];
        of(rank).insert(of(rank).end(), more.begin(), more.end());
      }
    }
  }
  for (int rank = rounds.inside; rank < ranks; ++rank)
    of(rank) = of(rank - rounds.inside);
  return has;
}

TEST(SumRoundsTest, EveryRankHasEveryContributionOnce) {
  for (int ranks = 1; ranks <= 300; ++ranks) {
    const std::vector<std::vector<int>> sums = summed(ranks);
    for (const std::vector<int>& sum : sums)
      ASSERT_EQ(sum, sums.front()) << ranks;
    std::vector<int> sorted = sums.front();
    std::sort(sorted.begin(), sorted.end());
    ASSERT_EQ(sorted.size(), static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank)
      ASSERT_EQ(sorted[static_cast<std::size_t>(rank)], rank) << ranks;
  }
}

TEST(SumRoundsTest, GroupsOfFourWhereThatFits) {
  EXPECT_THAT(planSumRounds(1).group_sizes, IsEmpty());
  EXPECT_THAT(planSumRounds(2).group_sizes, ElementsAre(2));
  EXPECT_THAT(planSumRounds(4).group_sizes, ElementsAre(4));
  EXPECT_THAT(planSumRounds(64).group_sizes, ElementsAre(4, 4, 4));
  EXPECT_THAT(planSumRounds(6).group(4, 0), testing::Contains(4));
}

TEST(SumRoundsTest, PrimesLeaveSomeOutside) {
  const SumRounds rounds = planSumRounds(67);
  EXPECT_LT(rounds.inside, 67);
  EXPECT_GE(2 * rounds.inside, 67);
}

}  // namespace
}  // namespace torc::runtime::dedicated
