// Bounds of graphs, against all cuts of small ones, and those of tori and twisted tori.
#include "model/bounds/graph_bounds.h"

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <llvm/Support/Error.h>

#include "model/bounds/twisted.h"

namespace torc::model {
namespace {

double bandwidth(const std::vector<GraphLink>& links, std::uint64_t ranks, Collective collective) {
  return GraphBounds(links, ranks, rowOf(collective)).bound(Machine{}, 1).bandwidth_s;
}

/// What must leave a set of `inside` of `ranks` ranks of one byte, written down per collective.
double demand(Collective collective, double inside, double ranks, bool has_first) {
  if (inside == 0 || inside == ranks) return 0;
  switch (collective) {
    case Collective::kAllreduce:
      return 1;
    case Collective::kAllgather:
      return inside / ranks;
    case Collective::kReduceScatter:
      return (ranks - inside) / ranks;
    case Collective::kBroadcast:
      return has_first ? 1 : 0;
    case Collective::kReduce:
      return has_first ? 0 : 1;
    case Collective::kScatter:
      return has_first ? (ranks - inside) / ranks : 0;
    case Collective::kGather:
      return has_first ? 0 : inside / ranks;
    default:
      return 0;
  }
}

double byAllCuts(const std::vector<GraphLink>& links, std::uint32_t ranks, std::uint32_t nodes,
                 Collective collective) {
  double most = 0, coming = 0;
  for (std::uint32_t set = 0; set < 1u << nodes; ++set) {
    double leaving = 0, inside = 0;
    for (const GraphLink& link : links) {
      if ((set >> link.from & 1) && !(set >> link.to & 1)) leaving += link.bandwidth;
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      inside += set >> rank & 1;
    const double bytes = demand(collective, inside, ranks, set & 1);
    if (bytes > 0) most = std::max(most, bytes / leaving);
  }
  for (const GraphLink& link : links)
    coming += link.to < ranks ? link.bandwidth : 0;
  return collective == Collective::kAllreduce ? std::max(most, 2 * (ranks - 1) / coming) : most;
}

TEST(GraphBounds, AreThoseOfTheNarrowestOfAllCuts) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const std::uint32_t ranks = 2 + random() % 5, nodes = ranks + random() % 4;
    std::vector<GraphLink> links;
    for (std::uint32_t node = 0; node < nodes; ++node)
      links.push_back({node, (node + 1) % nodes, 1.0 + random() % 3, 0});
    for (std::uint32_t n = random() % (2 * nodes); n > 0; --n) {
      const auto from = static_cast<std::uint32_t>(random() % nodes);
      const auto to = static_cast<std::uint32_t>((from + 1 + random() % (nodes - 1)) % nodes);
      links.push_back({from, to, 1.0 + random() % 5, 0});
    }
    if (round % 10 == 0) links.erase(links.begin() + random() % links.size());  // may be cut off
    sortLinks(links);
    for (const Collective collective :
         {Collective::kAllreduce, Collective::kAllgather, Collective::kReduceScatter,
          Collective::kBroadcast, Collective::kReduce, Collective::kScatter, Collective::kGather}) {
      const double expected = byAllCuts(links, ranks, nodes, collective);
      const double found = bandwidth(links, ranks, collective);
      if (expected == std::numeric_limits<double>::infinity()) {
        EXPECT_EQ(found, expected);
      } else {
        EXPECT_NEAR(found, expected, 1e-7 * expected) << "round " << round;
      }
    }
  }
}

/// A twisted torus as a graph has the bounds that are known of it, and its distances.
TEST(GraphBounds, OfTwistedToriAreThose) {
  for (const char* shape : {"3x3x6", "6x3x6", "4x4x8"}) {
    const Topology places = *parseTopology(shape);
    const std::vector<GraphLink> links = twistedLinks(places, 1e9, 1e-7);
    EXPECT_EQ(links.size(), 6 * places.ranks());
    EXPECT_TRUE(looksAlike(places, links));
    Machine machine;
    machine.dimensions.resize(3);
    for (std::size_t i = 0; i < 3; ++i)
      machine.dimensions[i] = {.size = places.axes[i].size, .bandwidth = 1e9, .latency = 1e-7};
    machine.twisted = true;
    for (const Collective collective :
         {Collective::kAllreduce, Collective::kAllgather, Collective::kReduceScatter,
          Collective::kBroadcast, Collective::kAlltoall}) {
      const Bound known = lowerBound(machine, {rowOf(collective), 1000});
      const Bound found =
          GraphBounds(links, places.ranks(), rowOf(collective)).bound(machine, 1000);
      EXPECT_NEAR(found.bandwidth_s, known.bandwidth_s, 1e-9 * known.bandwidth_s) << shape;
      EXPECT_NEAR(found.latency_s, known.latency_s, 1e-9 * known.latency_s) << shape;
    }
  }
}

/// Nothing goes back along a line of links, which a broadcast and a scan do not need.
TEST(GraphBounds, OfALineOneWay) {
  const std::vector<GraphLink> links = {{0, 1, 2, 1}, {1, 2, 4, 2}};
  for (const Collective collective : {Collective::kBroadcast, Collective::kScan}) {
    const Bound bound = GraphBounds(links, 3, rowOf(collective)).bound(Machine{}, 1);
    EXPECT_DOUBLE_EQ(bound.bandwidth_s, 0.5);
    EXPECT_DOUBLE_EQ(bound.latency_s, 3);
  }
  const Bound reduce = GraphBounds(links, 3, rowOf(Collective::kReduce)).bound(Machine{}, 1);
  EXPECT_EQ(reduce.bound_s, std::numeric_limits<double>::infinity());
}

/// Four ranks at a switch, one of them by a slow link.
TEST(GraphBounds, OfASwitch) {
  const std::vector<GraphLink> links = {{0, 4, 10, 1}, {1, 4, 10, 1}, {2, 4, 10, 1}, {3, 4, 2, 1},
                                        {4, 0, 10, 1}, {4, 1, 10, 1}, {4, 2, 10, 1}, {4, 3, 2, 3}};
  EXPECT_DOUBLE_EQ(bandwidth(links, 4, Collective::kAllgather), 0.75 / 2);
  EXPECT_DOUBLE_EQ(bandwidth(links, 4, Collective::kAllreduce), 1.0 / 2);
  EXPECT_DOUBLE_EQ(bandwidth(links, 4, Collective::kGather), 0.25 / 2);
  // Of a byte a rank sends a quarter to each other: three pairs with the slow one each way.
  EXPECT_DOUBLE_EQ(bandwidth(links, 4, Collective::kAlltoall), 3 * 0.25 / 2);
  EXPECT_DOUBLE_EQ(
      GraphBounds(links, 4, rowOf(Collective::kAllgather)).bound(Machine{}, 1).latency_s, 4);
}

}  // namespace
}  // namespace torc::model
