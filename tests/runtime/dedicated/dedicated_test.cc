// Roles of ranks: dedicated ones, and the ranks that each serves. Every sum has every contribution
// exactly once, in the same order. The client of dedicated ranks, without any: the tags of its
// communicators.
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include "runtime/dedicated/client.h"
#include "runtime/dedicated/roles.h"
#include "runtime/dedicated/sum_rounds.h"

namespace torc::runtime::dedicated {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Nodes of so many ranks each, one after the other.
std::vector<int> inRow(std::size_t nodes, std::size_t ranks_each) {
  std::vector<int> node_of_rank;
  for (std::size_t node = 0; node < nodes; ++node)
    node_of_rank.insert(node_of_rank.end(), ranks_each, static_cast<int>(node));
  return node_of_rank;
}

Roles assigned(const char* wanted, const std::vector<int>& nodes) {
  StatusOr<Roles> roles = assignRoles(*parseDedicatedRanks(wanted), nodes);
  EXPECT_TRUE(roles.ok()) << roles.status().message();
  return roles.ok() ? *roles : Roles();
}

std::string faultOf(const char* wanted, const std::vector<int>& nodes) {
  const StatusOr<Roles> roles = assignRoles(*parseDedicatedRanks(wanted), nodes);
  return roles.ok() ? "none" : roles.status().message();
}

TEST(RolesTest, Figure4OfThePaper) {
  const Roles roles = assigned("1:3", inRow(2, 4));
  EXPECT_THAT(roles.servers, ElementsAre(3, 7));
  EXPECT_THAT(roles.applications, ElementsAre(0, 1, 2, 4, 5, 6));
  EXPECT_THAT(roles.server_of, ElementsAre(0, 0, 0, 1, 1, 1));
}

TEST(RolesTest, AllToAllsThatMpisCountsHold) {
  // A server has the vectors of all that it serves, in less than 2^31 bytes.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 24;
  EXPECT_TRUE(assigned("=1", inRow(1, 128)).canExchange(kMost));
  EXPECT_FALSE(assigned("=1", inRow(1, 129)).canExchange(kMost));
  EXPECT_TRUE(assigned("=1", inRow(1, 129)).canExchange(kMost - 1));
  EXPECT_FALSE(assigned("=2", inRow(1, 257)).canExchange(kMost));  // one has 127, one 128
}

TEST(RolesTest, RanksThatGoRoundTheNodes) {
  const Roles roles = assigned("=2", {0, 1, 0, 1, 0, 1, 0, 1});
  EXPECT_THAT(roles.servers, ElementsAre(6, 7));
  EXPECT_THAT(roles.server_of, ElementsAre(0, 1, 0, 1, 0, 1));
}

TEST(RolesTest, FewerServersThanNodes) {
  const Roles roles = assigned("=2", inRow(4, 4));
  EXPECT_THAT(roles.servers, ElementsAre(7, 15));
  // Three of their own, and of the nodes without one in order.
  EXPECT_THAT(roles.server_of, ElementsAre(0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1));
}

TEST(RolesTest, NodesThatAreDedicatedAsAWhole) {
  const Roles roles = assigned("=6@nodes", inRow(4, 4));
  EXPECT_THAT(roles.servers, ElementsAre(10, 11, 12, 13, 14, 15));
  EXPECT_THAT(roles.node_of_server, ElementsAre(2, 2, 3, 3, 3, 3));
  // Ranks 8 and 9 share a node with the first two.
  EXPECT_THAT(roles.server_of, ElementsAre(1, 2, 2, 3, 4, 4, 5, 5, 0, 1));
  EXPECT_THAT(assigned("1:7@nodes", inRow(4, 4)).servers, ElementsAre(14, 15));
}

TEST(RolesTest, AListIsTakenAsItIs) {
  const Roles roles = assigned("0,5-6", inRow(2, 4));
  EXPECT_THAT(roles.servers, ElementsAre(0, 5, 6));
  EXPECT_THAT(roles.applications, ElementsAre(1, 2, 3, 4, 7));
  EXPECT_THAT(roles.server_of, ElementsAre(0, 2, 2, 1, 1));
}

TEST(RolesTest, ServersAreSpreadAndServeAlike) {
  for (const std::size_t ranks : {8u, 100u, 640u, 4096u, 65536u}) {
    for (const std::size_t each : {1u, 3u, 4u, 16u}) {
      std::vector<int> nodes(ranks);
      for (std::size_t rank = 0; rank < ranks; ++rank)
        nodes[rank] = static_cast<int>(rank / each);
      for (const char* wanted : {"1:3", "1:7", "=1", "=5"}) {
        const Roles roles = assigned(wanted, nodes);
        EXPECT_EQ(roles.servers.size() + roles.applications.size(), ranks);
        std::vector<std::size_t> served(roles.servers.size());
        std::size_t own_node = 0;
        for (std::size_t i = 0; i < roles.applications.size(); ++i) {
          const auto server = static_cast<std::size_t>(roles.server_of[i]);
          ++served[server];
          own_node += nodes[static_cast<std::size_t>(roles.servers[server])] ==
                      nodes[static_cast<std::size_t>(roles.applications[i])];
        }
        const auto [least, most] = std::ranges::minmax(served);
        EXPECT_LE(most - least, 1u) << wanted << ", " << ranks << " ranks, nodes of " << each;
        std::set<int> used;
        for (const int server : roles.servers)
          used.insert(nodes[static_cast<std::size_t>(server)]);
        const std::size_t node_count = (ranks + each - 1) / each;
        // The last node may be smaller than the others.
        EXPECT_GE(used.size() + 1, std::min(roles.servers.size(), node_count));
        if (roles.servers.size() >= node_count && each > 1) {
          EXPECT_GE(own_node, ranks / 8);
        }
      }
    }
  }
}

TEST(RolesTest, WhatCannotBe) {
  EXPECT_EQ(faultOf("1:8", inRow(1, 8)),
            "of 8 ranks none would be dedicated; at least 9 are needed");
  EXPECT_EQ(faultOf("=8", inRow(1, 8)), "of 8 ranks none would be the program's");
  EXPECT_EQ(faultOf("1:1", inRow(1, 1)),
            "of 1 rank none would be dedicated; at least 2 are needed");
  EXPECT_EQ(faultOf("0-3", inRow(1, 4)), "of 4 ranks none would be the program's");
  EXPECT_EQ(faultOf("2,4", inRow(1, 4)), "the job has no rank 4; its ranks are 0 to 3");
}

TEST(RolesTest, WithoutDedicatedAllAreOfTheProgram) {
  const StatusOr<Roles> roles = assignRoles(DedicatedRanks(), inRow(1, 3));
  ASSERT_TRUE(roles.ok());
  EXPECT_THAT(roles->servers, IsEmpty());
  EXPECT_THAT(roles->applications, ElementsAre(0, 1, 2));
}

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

TEST(Client, GivesNoSlotTwice) {
  Wire wire;
  wire.comm = MPI_COMM_SELF;
  wire.roles.applications = wire.roles.servers = wire.roles.server_of = {0};
  const std::array<int, 1> members = {0};
  Client client(wire, 0, 3);
  const auto define = [&] { return client.define(client.newIdentifier(), members, false); };
  const OffloadedCommunicator first = define(), second = define(), third = define();
  EXPECT_EQ(first.slot, 1);
  EXPECT_EQ(second.slot, 2);
  EXPECT_EQ(third.slot, 3);
  client.forget(second, false);
  // All round, past those that are in use.
  const OffloadedCommunicator fourth = define();
  EXPECT_EQ(fourth.slot, 2);
  client.forget(first, false);
  client.forget(fourth, false);
  EXPECT_EQ(define().slot, 1);
  EXPECT_EQ(define().slot, 2);
}

}  // namespace
}  // namespace torc::runtime::dedicated
