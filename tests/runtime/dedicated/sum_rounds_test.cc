// Every contribution exactly once in every sum, and all of them in the same order.
#include "runtime/dedicated/sum_rounds.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace torc::runtime::dedicated {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Nodes with so many dedicated ranks each.
std::vector<int> nodesOf(const std::vector<int>& sizes) {
  std::vector<int> node_of_rank;
  for (std::size_t node = 0; node < sizes.size(); ++node)
    node_of_rank.insert(node_of_rank.end(), static_cast<std::size_t>(sizes[node]),
                        static_cast<int>(node));
  return node_of_rank;
}

/// What each rank has at the end: ranks, as ServersSum brings them together. Empty: a message has
/// no receiver, or no sender.
std::vector<std::vector<int>> summed(const std::vector<int>& node_of_rank) {
  const SumRounds rounds = planSumRounds(node_of_rank);
  const std::size_t ranks = node_of_rank.size();
  std::vector<std::vector<int>> has(ranks);
  std::vector<std::vector<SumStep>> steps;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    has[rank].push_back(static_cast<int>(rank));
    steps.push_back(rounds.stepsOf(static_cast<int>(rank)));
    std::ranges::reverse(steps.back());
  }
  for (int round = 0; round < kMostSumRounds; ++round) {
    const auto isNow = [&](std::size_t rank) {
      return !steps[rank].empty() && steps[rank].back().round == round;
    };
    std::map<std::pair<int, int>, std::vector<int>> under_way;  // by sender and receiver
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (!isNow(rank)) continue;
      for (const int to : steps[rank].back().to)
        under_way[{static_cast<int>(rank), to}] = has[rank];
    }
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (!isNow(rank)) continue;
      const SumStep step = steps[rank].back();
      steps[rank].pop_back();
      std::vector<int> own = std::move(has[rank]), sum;
      for (std::size_t i = 0; i <= step.from.size(); ++i) {
        if (step.adds_own && i == step.own_place) sum.insert(sum.end(), own.begin(), own.end());
        if (i == step.from.size()) break;
        const auto message = under_way.find({step.from[i], static_cast<int>(rank)});
        if (message == under_way.end()) return {};
        sum.insert(sum.end(), message->second.begin(), message->second.end());
        under_way.erase(message);
      }
      has[rank] = step.from.empty() ? own : sum;
    }
    if (!under_way.empty()) return {};
  }
  return has;
}

void expectSums(const std::vector<int>& sizes) {
  const std::vector<int> node_of_rank = nodesOf(sizes);
  const std::vector<std::vector<int>> sums = summed(node_of_rank);
  const std::string what = testing::PrintToString(sizes);
  ASSERT_EQ(sums.size(), node_of_rank.size()) << what;
  for (const std::vector<int>& sum : sums)
    ASSERT_EQ(sum, sums.front()) << what;
  std::vector<int> sorted = sums.front();
  std::ranges::sort(sorted);
  ASSERT_EQ(sorted.size(), sums.size()) << what;
  for (std::size_t rank = 0; rank < sums.size(); ++rank)
    ASSERT_EQ(sorted[rank], static_cast<int>(rank)) << what;
}

std::vector<int> alike(std::size_t nodes, int lanes) {
  return std::vector<int>(nodes, lanes);
}

TEST(SumRoundsTest, EveryRankHasEveryContributionOnce) {
  for (std::size_t nodes = 1; nodes <= 300; ++nodes)
    expectSums(alike(nodes, 1));
  for (std::size_t nodes = 1; nodes <= 70; ++nodes) {
    for (const int lanes : {2, 3, 4, 5, 7})
      expectSums(alike(nodes, lanes));
  }
  expectSums(alike(9, 61));
}

TEST(SumRoundsTest, NodesThatDiffer) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<int> sizes(1 + random() % 20);
    for (int& size : sizes)
      size = static_cast<int>(trial % 3 == 0 ? 1 + random() % 9 : 4 - (random() % 8 == 0));
    expectSums(sizes);
  }
}

TEST(SumRoundsTest, GroupsOfFourWhereThatFits) {
  const auto sizes = [](std::size_t nodes) {
    std::vector<int> sizes;
    for (const SumRounds::NodeRound& round : planSumRounds(nodesOf(alike(nodes, 1))).rounds) {
      EXPECT_FALSE(round.is_by_class);
      sizes.push_back(round.size);
    }
    return sizes;
  };
  EXPECT_THAT(sizes(1), IsEmpty());
  EXPECT_THAT(sizes(2), ElementsAre(2));
  EXPECT_THAT(sizes(4), ElementsAre(4));
  EXPECT_THAT(sizes(64), ElementsAre(4, 4, 4));
}

/// Sixteen nodes of four lanes: all nodes at once, each lane hears of four.
TEST(SumRoundsTest, LanesShareTheNodes) {
  const SumRounds rounds = planSumRounds(nodesOf(alike(16, 4)));
  EXPECT_EQ(rounds.lanes, 4);
  EXPECT_THAT(rounds.lane_groups, ElementsAre(2, 2));
  ASSERT_EQ(rounds.rounds.size(), 1u);
  EXPECT_TRUE(rounds.rounds[0].is_by_class);
  const std::vector<SumStep> steps = rounds.stepsOf(4 * 5 + 2);  // node 5 is of class 1
  ASSERT_EQ(steps.size(), 5u);
  EXPECT_THAT(steps[2].from, ElementsAre(8 * 4 + 1, 9 * 4 + 1, 10 * 4 + 1, 11 * 4 + 1));
  EXPECT_THAT(steps[2].to, ElementsAre(9 * 4 + 1, 10 * 4 + 1, 11 * 4 + 1, 8 * 4 + 1));
  EXPECT_FALSE(steps[2].adds_own);
}

TEST(SumRoundsTest, PrimesLeaveSomeOutside) {
  const SumRounds rounds = planSumRounds(nodesOf(alike(67, 1)));
  EXPECT_LT(rounds.nodes.size(), 67u);
  EXPECT_GE(2 * rounds.nodes.size(), 67u);
}

/// Tags of a sum are so many.
TEST(SumRoundsTest, RoundsAreFew) {
  for (const auto& [nodes, lanes] :
       {std::pair<std::size_t, int>{65536, 1}, {8191, 2}, {4096, 64}}) {
    for (const SumStep& step : planSumRounds(nodesOf(alike(nodes, lanes))).stepsOf(0))
      EXPECT_LT(step.round, kMostSumRounds) << nodes;
  }
}

}  // namespace
}  // namespace torc::runtime::dedicated
