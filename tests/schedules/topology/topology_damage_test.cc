// Dead links and dead nodes: who has which rank, which axes are lines, what is refused.
#include <set>

#include <gtest/gtest.h>

#include "schedules/box.h"
#include "schedules/topology/damage.h"

namespace torc {
namespace {

Topology damaged(std::string_view shape, const std::vector<std::string_view>& links,
                 const std::vector<std::string_view>& nodes = {}, std::string_view order = {}) {
  Topology topology = *parseTopology(shape, order);
  for (const std::string_view text : links) {
    const StatusOr<DeadLink> link = parseDeadLink(topology, text);
    EXPECT_TRUE(link.ok()) << link.status().message();
    if (link.ok()) {
      EXPECT_TRUE(topology.addDeadLink(*link).ok());
    }
  }
  for (const std::string_view text : nodes) {
    const StatusOr<Coordinates> node = parseDeadNode(topology, text);
    EXPECT_TRUE(node.ok()) << node.status().message();
    if (node.ok()) {
      EXPECT_TRUE(topology.addDeadNode(*node).ok());
    }
  }
  return topology;
}

TEST(TopologyDamage, RanksAreTheLiveNodesInOrder) {
  const struct {
    std::string_view shape, order;
    std::vector<std::string_view> nodes;
    std::uint64_t ranks;
  } cases[] = {
      {"4x3", "XY", {"0,0", "1,0", "3,2"}, 9}, {"4x3", "YX", {"1,2", "2,0", "1,1"}, 9},
      {"3x2+4", "XYT", {"1,0", "2,1"}, 16},    {"3x2+4", "TXY", {"0,0", "2,1"}, 16},
      {"3x2+4", "XTY", {"0,0", "1,0"}, 16},    {"5m", "X", {"4"}, 4},
  };
  for (const auto& test_case : cases) {
    const Topology topology = damaged(test_case.shape, {}, test_case.nodes, test_case.order);
    ASSERT_TRUE(topology.validate().ok()) << topology.validate().message();
    EXPECT_EQ(topology.ranks(), test_case.ranks);
    std::int32_t rank = 0;
    for (std::int32_t site = 0; site < static_cast<std::int32_t>(topology.sites()); ++site) {
      const Coordinates at = topology.coordinatesOfSite(site);
      EXPECT_EQ(topology.siteOf(at), site);
      if (topology.isDead(at)) {
        EXPECT_EQ(topology.rankOf(at), -1);
        continue;
      }
      EXPECT_EQ(topology.rankOf(at), rank) << test_case.shape << " " << test_case.order;
      EXPECT_EQ(topology.coordinatesOf(rank), at) << test_case.shape << " " << test_case.order;
      ++rank;
    }
    EXPECT_EQ(static_cast<std::uint64_t>(rank), topology.ranks());
  }
}

TEST(TopologyDamage, DeadNodesAreNoNeighbours) {
  const Topology topology = damaged("3x3", {}, {"1,1"});
  EXPECT_EQ(topology.neighbour({0, 1}, {1, 0}), -1);
  EXPECT_EQ(topology.neighbour({0, 1}, {2, 0}), topology.rankOf({2, 1}));
}

TEST(TopologyDamage, LinksWorkBothWaysOrNot) {
  const Topology topology = damaged("4x3m", {"3,1:X", "2,0:Y"}, {"0,2"});
  Coordinates to{};
  EXPECT_FALSE(topology.hasLink({3, 1}, 0, 1, to));
  EXPECT_FALSE(topology.hasLink({0, 1}, 0, -1, to));
  EXPECT_TRUE(topology.hasLink({3, 0}, 0, 1, to));
  EXPECT_EQ(to, (Coordinates{0, 0}));
  EXPECT_FALSE(topology.hasLink({2, 0}, 1, 1, to));
  EXPECT_FALSE(topology.hasLink({2, 1}, 1, -1, to));
  EXPECT_FALSE(topology.hasLink({1, 0}, 1, -1, to));  // the end of the mesh
  EXPECT_FALSE(topology.hasLink({1, 2}, 0, -1, to));  // a dead node
}

/// A ring of two has two cables: one upwards from each node.
TEST(TopologyDamage, RingOfTwo) {
  const Topology topology = damaged("2", {"0:X"});
  ASSERT_TRUE(topology.validate().ok());
  Coordinates to{};
  EXPECT_FALSE(topology.hasLink({0}, 0, 1, to));
  EXPECT_FALSE(topology.hasLink({1}, 0, -1, to));
  EXPECT_TRUE(topology.hasLink({1}, 0, 1, to));
  EXPECT_TRUE(topology.hasLink({0}, 0, -1, to));
  EXPECT_TRUE(topology.isLine(0));
  EXPECT_EQ(topology.lineStart(0), 1u);
}

TEST(TopologyDamage, RingsCutAtOneCoordinateAreLines) {
  const Topology topology = damaged("4x5x3m", {"0,2,1:Y", "3,2,0:Y", "3,1,1:X"});
  EXPECT_TRUE(topology.isLine(0));
  EXPECT_EQ(topology.lineStart(0), 0u);
  EXPECT_TRUE(topology.isLine(1));
  EXPECT_EQ(topology.lineStart(1), 3u);
  EXPECT_TRUE(topology.isLine(2));
  EXPECT_EQ(topology.lineStart(2), 0u);
  EXPECT_DOUBLE_EQ(topology.capacity(0), 0.5);
  EXPECT_DOUBLE_EQ(topology.capacity(1), 0.5);
  EXPECT_DOUBLE_EQ(topology.capacity(2), 0.5);
  EXPECT_FALSE(topology.isBroken());
}

TEST(TopologyDamage, OtherDamageBreaksAxes) {
  EXPECT_FALSE(damaged("4x5", {}).isBroken());
  EXPECT_TRUE(damaged("4x5", {"0,2:Y", "1,3:Y"}).isBroken());
  EXPECT_FALSE(damaged("4x5", {"0,2:Y", "1,3:Y"}).isLine(1));
  EXPECT_DOUBLE_EQ(damaged("4x5", {"0,2:Y", "1,3:Y"}).capacity(1), 1);
  EXPECT_TRUE(damaged("4x5m", {"0,2:Y"}).isBroken());
  EXPECT_TRUE(damaged("4x2m", {"0,0:Y"}).isBroken());
  EXPECT_TRUE(damaged("4x5", {}, {"1,1"}).isBroken());
}

TEST(TopologyDamage, TablesAreOrderedHoweverTheyAreFilled) {
  const Topology topology = damaged("4x4", {"3,3:Y", "1,0:X", "3,3:X"}, {"2,1", "1,0"}, "YX");
  EXPECT_EQ(topology, damaged("4x4", {"1,0:X", "3,3:X", "3,3:Y"}, {"1,0", "2,1"}, "YX"));
  EXPECT_TRUE(topology.validate().ok()) << topology.validate().message();
}

std::string textFault(std::string_view shape, std::string_view text) {
  const Topology topology = *parseTopology(shape);
  const bool is_link = text.find(':') != std::string_view::npos;
  return is_link ? parseDeadLink(topology, text).status().message()
                 : parseDeadNode(topology, text).status().message();
}

TEST(TopologyDamage, TextThatNamesNothing) {
  EXPECT_EQ(textFault("4x4x4", "0,0,4:Z"), "dead link '0,0,4:Z': Z=4 is outside (size 4)");
  EXPECT_EQ(textFault("4x4x4", "0,0,0:Q"), "dead link '0,0,0:Q': no axis 'Q'");
  EXPECT_EQ(textFault("4x4x4", "0,0:Z"), "dead link '0,0:Z': expected 3 coordinates, as in 0,0,0");
  EXPECT_EQ(textFault("4x4x4", "0,0,0:"),
            "dead link '0,0,0:': expected coordinates, ':' and an axis, as in 0,0,1:Z");
  EXPECT_EQ(textFault("4x4m", "0,3:Y"),
            "dead link '0,3:Y': there is no link beyond the end of the mesh along Y");
  EXPECT_EQ(textFault("4x1", "0,0:Y"), "dead link '0,0:Y': there is no link along Y (size 1)");
  EXPECT_EQ(textFault("4+2", "0:T"), "dead link '0:T': axis 1 is no network dimension");
  EXPECT_EQ(textFault("4x4", "1,-1"), "dead node '1,-1': Y=-1 is outside (size 4)");
  EXPECT_EQ(textFault("4x4", "1,2,3"), "dead node '1,2,3': expected 2 coordinates, as in 0,0");
  EXPECT_EQ(textFault("4x4", "1,99999999999"),
            "dead node '1,99999999999': expected 2 coordinates, as in 0,0");
  EXPECT_EQ(textFault("4x4", ""), "dead node '': expected 2 coordinates, as in 0,0");
}

TEST(TopologyDamage, TablesHaveRoomForSixteen) {
  Topology topology = *parseTopology("40x40");
  for (std::int32_t i = 0; i < 16; ++i) {
    EXPECT_TRUE(topology.addDeadNode({2 * i, i}).ok());
    EXPECT_TRUE(topology.addDeadLink({{i, 2 * i}, 0}).ok());
  }
  EXPECT_EQ(topology.addDeadNode({39, 39}).message(), "dead node (39, 39): more than 16");
  EXPECT_EQ(topology.addDeadLink({{39, 39}, 0}).message(), "dead link (39, 39)X: more than 16");
  EXPECT_TRUE(topology.validate().ok()) << topology.validate().message();
  Topology twice = damaged("4", {"1:X"}, {"2"});
  EXPECT_EQ(twice.addDeadNode({2}).message(), "dead node (2): given twice");
  EXPECT_EQ(twice.addDeadLink({{1}, 0}).message(), "dead link (1)X: given twice");
}

TEST(TopologyDamage, TablesThatAreNotSound) {
  const auto fault = [](auto change) {
    Topology topology = damaged("4x4", {"0,0:X", "1,1:Y"}, {"2,2", "3,3"});
    change(topology);
    return topology.validate().message();
  };
  EXPECT_EQ(fault([](Topology&) {}), "");
  EXPECT_EQ(fault([](Topology& t) { t.dead_node_count = 17; }),
            "topology: has 17 dead nodes, at most 16");
  EXPECT_EQ(fault([](Topology& t) { t.dead_node_count = 1; }),
            "topology: dead node 1 is unused but not blank");
  EXPECT_EQ(fault([](Topology& t) { t.dead_link_count = 1; }),
            "topology: dead link 1 is unused but not blank");
  EXPECT_EQ(fault([](Topology& t) { std::swap(t.dead_node_table[0], t.dead_node_table[1]); }),
            "topology: dead nodes must be in rank order, each once: (2, 2) is not");
  EXPECT_EQ(fault([](Topology& t) { t.dead_link_table[1] = t.dead_link_table[0]; }),
            "topology: dead links must be in rank order, then by axis, each once: (0, 0)X is not");
  EXPECT_EQ(fault([](Topology& t) { t.dead_link_table[1].axis = 9; }),
            "topology: dead link 1: axis 9 is no network dimension");
  EXPECT_EQ(fault([](Topology& t) { t.dead_node_table[1][0] = 4; }),
            "topology: dead node 1: X=4 is outside (size 4)");
  EXPECT_EQ(fault([](Topology& t) { t.dead_node_table[1][5] = 1; }),
            "topology: dead node 1: axis 5 is no network dimension but not 0");
}

/// Breadth-first search over the nodes themselves.
bool isConnected(const Topology& topology) {
  std::set<std::int32_t> seen;
  std::vector<Coordinates> queue;
  for (std::int32_t site = 0; queue.empty(); ++site) {
    const Coordinates at = topology.coordinatesOfSite(site);
    if (!topology.isDead(at)) queue.push_back(at);
  }
  seen.insert(topology.siteOf(queue.front()));
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (int axis = 0; axis < topology.dimensions(); ++axis) {
      for (const int sign : {1, -1}) {
        Coordinates to{};
        if (topology.hasLink(queue[i], static_cast<std::uint32_t>(axis), sign, to) &&
            seen.insert(topology.siteOf(to)).second) {
          queue.push_back(to);
        }
      }
    }
  }
  return seen.size() == topology.ranks();
}

TEST(TopologyDamage, ConnectionIsWhatASearchFinds) {
  std::uint32_t state = 1;
  const auto random = [&](std::uint32_t below) {
    state = state * 1664525u + 1013904223u;
    return state / 65536 % below;
  };
  int connected = 0, total = 0;
  for (const std::string_view shape :
       {"8", "9m", "6x5", "7mx5", "2x7", "2mx9", "4x3mx3", "2x2x2x2"}) {
    for (int round = 0; round < 60; ++round) {
      Topology topology = *parseTopology(shape);
      const std::uint32_t nodes = random(topology.dimensions() == 1 ? 3 : 6);
      const std::uint32_t links = random(topology.dimensions() == 1 ? 3 : 10);
      for (std::uint32_t i = 0; i < nodes + links; ++i) {
        Coordinates at{};
        for (int axis = 0; axis < topology.dimensions(); ++axis)
          at[axis] = static_cast<std::int32_t>(random(topology.axes[axis].size));
        // What cannot break, or is broken already, is not added.
        if (i < nodes) {
          (void)topology.addDeadNode(at).ok();
        } else {
          const std::uint32_t axis = random(static_cast<std::uint32_t>(topology.dimensions()));
          (void)topology.addDeadLink({at, axis}).ok();
        }
      }
      const Status status = topology.validate();
      EXPECT_EQ(status.ok(), isConnected(topology)) << shape << ", round " << round;
      if (!status.ok()) {
        EXPECT_EQ(status.message(), "topology: the damage disconnects the torus");
      }
      connected += status.ok();
      ++total;
    }
  }
  EXPECT_GT(connected, total / 8);
  EXPECT_LT(connected, total - total / 8);
}

TEST(TopologyDamage, ConnectionOfALargeTorusIsCheap) {
  EXPECT_TRUE(damaged("1000x1000x1000", {"3,999,7:Y"}, {"500,0,0"}).validate().ok());
  EXPECT_EQ(damaged("2000000000", {}, {"5", "1000000000"}).validate().message(),
            "topology: the damage disconnects the torus");
  EXPECT_EQ(damaged("1", {}, {"0"}).validate().message(), "topology: every node is dead");
}

TEST(TopologyDamage, VolumesWithoutDeadNodes) {
  const Topology topology = damaged("4x3+2", {}, {"1,1", "3,2"});
  const Ranges all{{{0, 4}, {0, 3}, {0, 2}}};
  EXPECT_EQ(volume(all, topology), 24u);
  EXPECT_EQ(liveVolume(all, topology), 20u);
  EXPECT_EQ(liveVolume({{{3, 2}, {0, 3}, {1, 1}}}, topology), 5u);  // X = 3, 0
  EXPECT_EQ(liveVolume({{{1, 1}, {1, 1}, {0, 2}}}, topology), 0u);
}

}  // namespace
}  // namespace torc
