// Graphs: validation, and routes of messages.
#include "schedules/topology/graph.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace torc {
namespace {

std::string faultOf(std::string_view shape, std::vector<GraphLink> links) {
  return validateGraph(*parseTopology(shape), links).message();
}

TEST(Graph, FaultsAreNamed) {
  EXPECT_EQ(faultOf("4", {}), "");
  EXPECT_EQ(faultOf("4", {{0, 1, 1, 0}, {1, 0, 1, 0}}), "");
  EXPECT_EQ(faultOf("4", {{0, 4, 1, 0}, {4, 0, 1, 0}}), "");  // a switch
  EXPECT_EQ(faultOf("4", {{0, 5, 1, 0}}), "link 0: node 5 does not exist (up to 4 may)");
  EXPECT_EQ(faultOf("4", {{2, 2, 1, 0}}), "link 0: ends where it begins");
  EXPECT_EQ(faultOf("4", {{0, 1, -1, 0}}), "link 0: bandwidth -1 must be over 0");
  EXPECT_EQ(faultOf("4", {{0, 1, 1, -0.0}}), "link 0: latency -0 must be at least 0");
  EXPECT_EQ(faultOf("4", {{0, 1, 1, 0}, {0, 1, 1, 0}}), "link 1: 0->1 is behind 0->1, must ascend");
  EXPECT_EQ(faultOf("4x4m", {{0, 1, 1, 0}}),
            "topology: a graph's axis Y says more than where ranks are, which links say");
  EXPECT_EQ(faultOf("2097152", {{0, 1, 1, 0}}),
            "topology: a graph has at most 1048576 ranks, not 2097152");
}

TEST(Graph, LinksBetweenTheSameNodesAreOne) {
  std::vector<GraphLink> links = {{1, 0, 2, 3}, {0, 1, 1, 0}, {1, 0, 5, 1}};
  sortLinks(links);
  EXPECT_EQ(links, (std::vector<GraphLink>{{0, 1, 1, 0}, {1, 0, 7, 3}}));
}

/// 0 and 1 are joined; 0, 2 and 3 to the switch 4, 3 and 1 to the switch 5, and the switches.
TEST(Graph, MessagesTakeALinkOrSwitches) {
  const std::vector<GraphLink> links = {{0, 1, 1, 0}, {0, 4, 1, 0}, {0, 5, 1, 0}, {1, 0, 1, 0},
                                        {1, 2, 1, 0}, {2, 4, 1, 0}, {3, 4, 1, 0}, {3, 5, 1, 0},
                                        {4, 1, 1, 0}, {4, 2, 1, 0}, {4, 5, 1, 0}, {5, 1, 1, 0},
                                        {5, 3, 1, 0}};
  GraphRoutes routes(links, 4);
  const auto way = [&](std::uint32_t from, std::uint32_t to) {
    std::string text = std::to_string(from);
    for (const std::uint32_t link : routes.between(from, to)) {
      EXPECT_TRUE(text.ends_with(std::to_string(links[link].from)));
      text += std::to_string(links[link].to);
    }
    return text;
  };
  EXPECT_EQ(way(0, 1), "01");    // and not over the switch
  EXPECT_EQ(way(0, 2), "042");   // nor over rank 1
  EXPECT_EQ(way(3, 1), "341");   // the lower switch
  EXPECT_EQ(way(2, 3), "2453");  // over both
  EXPECT_EQ(way(1, 3), "1");     // ranks send nothing on
  EXPECT_EQ(way(2, 0), "2");     // nobody leads back
}

/// Random graphs with switches: ways have as many links as Floyd and Warshall's algorithm says.
TEST(Graph, WaysAreShortest) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const std::uint32_t ranks = 2 + random() % 5, nodes = ranks + random() % 6;
    std::vector<GraphLink> links;
    for (std::uint32_t n = nodes + random() % (2 * nodes); n > 0; --n) {
      const auto from = static_cast<std::uint32_t>(random() % nodes);
      const auto to = static_cast<std::uint32_t>(random() % nodes);
      if (from != to) links.push_back({from, to, 1, 0});
    }
    sortLinks(links);
    constexpr std::uint32_t kFar = 1000;
    std::vector<std::vector<std::uint32_t>> hops(nodes, std::vector<std::uint32_t>(nodes, kFar));
    for (const GraphLink& link : links)
      hops[link.from][link.to] = 1;
    for (std::uint32_t over = ranks; over < nodes; ++over) {
      for (std::uint32_t from = 0; from < nodes; ++from) {
        for (std::uint32_t to = 0; to < nodes; ++to)
          hops[from][to] = std::min(hops[from][to], hops[from][over] + hops[over][to]);
      }
    }
    GraphRoutes routes(links, ranks);
    for (std::uint32_t from = 0; from < ranks; ++from) {
      for (std::uint32_t to = 0; to < ranks; ++to) {
        if (from == to) continue;
        const std::vector<std::uint32_t> way = routes.between(from, to);
        EXPECT_EQ(way.size(), hops[from][to] >= kFar ? 0 : hops[from][to]);
        std::uint32_t at = from;
        for (const std::uint32_t link : way) {
          EXPECT_EQ(links[link].from, at);
          at = links[link].to;
          EXPECT_TRUE(at == to || at >= ranks);
        }
        if (!way.empty()) {
          EXPECT_EQ(at, to);
        }
      }
    }
  }
}

TEST(Graph, LooksAlikeWhereEveryLinkIsMoved) {
  const Topology torus = *parseTopology("3x2");
  std::vector<GraphLink> links;
  for (std::uint32_t node = 0; node < 6; ++node)
    links.push_back({node, node / 3 * 3 + (node + 1) % 3, 1, 0});
  EXPECT_TRUE(looksAlike(torus, links));
  links[4].bandwidth = 2;
  EXPECT_FALSE(looksAlike(torus, links));
  links[4] = {4, 6, 1, 0};
  EXPECT_FALSE(looksAlike(torus, links));
  EXPECT_TRUE(looksAlike(torus, {}));
}

}  // namespace
}  // namespace torc
