// Who is dedicated, and who serves whom.
#include "runtime/dedicated/roles.h"

#include <algorithm>
#include <numeric>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace torc::runtime::dedicated
