// Shapes, rank orders, neighbours, and unsound topologies.
#include "schedules/topology/topology.h"

#include <limits>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "schedules/box.h"
#include "schedules/neighbours.h"
#include "schedules/topology/damage.h"
#include "tests/schedules/sample_schedule.h"

namespace torc {
namespace {

using samples::damaged;

std::string parseFault(std::string_view shape, std::string_view order = {}) {
  const StatusOr<Topology> topology = parseTopology(shape, order);
  if (topology.ok()) return "";
  EXPECT_EQ(topology.status().code(), StatusCode::kInvalidArgument);
  return topology.status().message();
}

TEST(Topology, ParsesShapes) {
  for (const char* shape : {"7", "5x3", "4x3m", "2x1x3", "2x2x2x2", "1x1x1x1x1x1x1", "8x8x8+4",
                            "4mx4m+2", "2147483647"}) {
    const Topology topology = samples::parsed(shape);
    EXPECT_EQ(topology.shape(), shape);
    EXPECT_EQ(topology.validate().message(), "") << shape;
  }
}

TEST(Topology, AxesOfAShape) {
  const Topology topology = samples::parsed("4x3mx2+5");
  ASSERT_EQ(topology.axis_count, 4u);
  EXPECT_EQ(topology.dimensions(), 3);
  EXPECT_TRUE(topology.hasCores());
  EXPECT_EQ(topology.ranks(), 120u);
  EXPECT_EQ(topology.orderString(), "XYZT");
  EXPECT_TRUE(topology.axes[0].wraps());
  EXPECT_FALSE(topology.axes[1].wraps());
  EXPECT_TRUE(topology.axes[3].wraps());
  EXPECT_EQ(samples::parsed("2x2x2x2x2x2x2+2").orderString(), "XYZUVWST");
}

// Texts of faults that a command line may have: tests/compiler/commands/refused.test.
TEST(Topology, ShapeFaults) {
  EXPECT_EQ(parseFault(""), "torus '': a size is missing (column 1)");
  for (const char* shape : {"4y3", "4x3mm", "4x3+", "4+2+2", "4+2m", "4 x3", "4x3 ", "+4", "4X3"}) {
    EXPECT_NE(parseFault(shape), "") << shape;
  }
}

TEST(Topology, Orders) {
  EXPECT_EQ(samples::parsed("4x3x2", "ZXY").orderString(), "ZXY");
  EXPECT_EQ(samples::parsed("4x3+2", "TXY").orderString(), "TXY");
  EXPECT_EQ(parseFault("4x3", "XZ"), "order 'XZ': no axis 'Z' (the axes are XY)");
  EXPECT_EQ(parseFault("4x3", "XX"), "order 'XX': axis 'X' occurs twice (the axes are XY)");
  for (const char* order : {"X", "XYZ", "xy", "XYT"}) {
    EXPECT_NE(parseFault("4x3", order), "") << order;
  }
}

TEST(Topology, RankOrder) {
  const Topology natural = samples::parsed("4x3x2");
  EXPECT_EQ(natural.rankOf({1, 0, 0}), 1);
  EXPECT_EQ(natural.rankOf({0, 1, 0}), 4);
  EXPECT_EQ(natural.rankOf({3, 2, 1}), 3 + 4 * (2 + 3 * 1));
  const Topology reversed = samples::parsed("4x3x2", "ZYX");
  EXPECT_EQ(reversed.rankOf({0, 0, 1}), 1);
  EXPECT_EQ(reversed.rankOf({3, 2, 1}), 1 + 2 * (2 + 3 * 3));
}

TEST(Topology, RanksAndCoordinatesAreInverse) {
  for (const auto& [shape, order] : {std::pair("4x3x2", "YZX"), std::pair("5", ""),
                                     std::pair("2x1x3+2", "TZYX"), std::pair("3mx3m", "YX")}) {
    const Topology topology = samples::parsed(shape, order);
    for (std::int32_t rank = 0; rank < static_cast<std::int32_t>(topology.ranks()); ++rank) {
      const Coordinates at = topology.coordinatesOf(rank);
      EXPECT_EQ(topology.rankOf(at), rank);
      for (std::uint32_t i = 0; i < kMaxAxes; ++i) {
        const std::uint32_t size = i < topology.axis_count ? topology.axes[i].size : 1;
        EXPECT_GE(at[i], 0);
        EXPECT_LT(static_cast<std::uint32_t>(at[i]), size);
      }
    }
  }
  const Topology large = samples::parsed("2147483647");
  EXPECT_EQ(large.coordinatesOf(2147483646)[0], 2147483646);
}

TEST(Topology, Neighbours) {
  const Topology topology = samples::parsed("4x3m+2");
  EXPECT_EQ(topology.neighbour({3, 0, 0}, {1, 0, 0}), topology.rankOf({0, 0, 0}));
  EXPECT_EQ(topology.neighbour({0, 0, 0}, {-1, 0, 0}), topology.rankOf({3, 0, 0}));
  EXPECT_EQ(topology.neighbour({1, 1, 1}, {0, 1, 1}), topology.rankOf({1, 2, 0}));
  EXPECT_EQ(topology.neighbour({1, 2, 0}, {0, 1, 0}), -1);
  EXPECT_EQ(topology.neighbour({1, 0, 0}, {0, -1, 0}), -1);
  EXPECT_EQ(topology.neighbour({1, 0, 0}, {1000000001, 0, 0}), topology.rankOf({2, 0, 0}));
}

// MPI's order of neighbours: the axis that varies slowest with the rank first, in each the one
// below before the one above.
TEST(Topology, NeighboursLieInMpisOrder) {
  const Topology topology = samples::parsed("4x3x2", "YXZ");
  EXPECT_EQ(neighbourPlace(topology, {2, -1}), 0u);
  EXPECT_EQ(neighbourPlace(topology, {2, 1}), 1u);
  EXPECT_EQ(neighbourPlace(topology, {0, 1}), 3u);
  EXPECT_EQ(neighbourPlace(topology, {1, -1}), 4u);
}

/// An edit of a sound topology, and what is then said of it.
struct TopologyFault {
  void (*edit)(Topology&);
  const char* message;
};

void expectFaults(const Topology& sound, std::initializer_list<TopologyFault> faults) {
  EXPECT_TRUE(sound.validate().ok());
  for (const auto& [edit, message] : faults) {
    Topology topology = sound;
    edit(topology);
    EXPECT_EQ(topology.validate().code(), StatusCode::kMalformed);
    EXPECT_EQ(topology.validate().message(), std::string("topology: ") + message);
  }
}

TEST(Topology, Faults) {
  expectFaults(
      samples::parsed("4x3m+2"),
      {{[](Topology& t) { t.axis_count = 0; }, "has 0 axes, must have 1 to 8"},
       {[](Topology& t) { t.axis_count = 0xffffffff; }, "has 4294967295 axes, must have 1 to 8"},
       {[](Topology& t) { t.axes[0].size = 0; }, "axis 0: size must be at least 1"},
       {[](Topology& t) { t.axes[0].size = 0xffffffff; }, "more than 2147483647 ranks"},
       {[](Topology& t) { t.axes[0].kind = static_cast<AxisKind>(3); }, "axis 0: unknown kind"},
       {[](Topology& t) { t.axes[1].kind = AxisKind::kCore; }, "cores must be the last axis"},
       {[](Topology& t) { t.axes[1].name = 'T'; },
        "axis 1: the name T is for cores, and for them alone"},
       {[](Topology& t) { t.axes[1].name = 'X'; }, "two axes named X"},
       {[](Topology& t) { t.axes[1].name = '\n'; }, "axis 1: name must be A to Z"},
       {[](Topology& t) { t.order[1] = 0; }, "the rank order must name every axis once"},
       {[](Topology& t) { t.order[1] = 200; }, "the rank order must name every axis once"},
       {[](Topology& t) { t.axes[0].reserved = 1; }, "axis 0: reserved bytes"},
       {[](Topology& t) { t.dead_link_count = 17; }, "has 17 dead links, at most 16"},
       {[](Topology& t) { t.axes[5].size = 2; }, "axis 5 is unused but not blank"},
       {[](Topology& t) { t.axes[5].latency = -0.0; }, "axis 5 is unused but not blank"},
       {[](Topology& t) { t.order[7] = 1; }, "axis 7 is unused but not blank"}});
}

TEST(TopologyDamage, TablesThatAreNotSound) {
  expectFaults(
      damaged("4x4", {"2,2", "3,3"}, {"0,0:X", "1,1:Y"}),
      {{[](Topology& t) { t.dead_node_count = 17; }, "has 17 dead nodes, at most 16"},
       {[](Topology& t) { t.dead_node_count = 1; }, "dead node 1 is unused but not blank"},
       {[](Topology& t) { t.dead_link_count = 1; }, "dead link 1 is unused but not blank"},
       {[](Topology& t) { std::swap(t.dead_node_table[0], t.dead_node_table[1]); },
        "dead nodes must be in rank order, each once: (2, 2) is not"},
       {[](Topology& t) { t.dead_link_table[1] = t.dead_link_table[0]; },
        "dead links must be in rank order, then by axis, each once: (0, 0)X is not"},
       {[](Topology& t) { t.dead_link_table[1].axis = 9; },
        "dead link 1: axis 9 is no network dimension"},
       {[](Topology& t) { t.dead_node_table[1][0] = 4; }, "dead node 1: X=4 is outside (size 4)"},
       {[](Topology& t) { t.dead_node_table[1][5] = 1; },
        "dead node 1: axis 5 is no network dimension but not 0"}});
}

TEST(Topology, BandwidthAndLatencyAreNumbers) {
  const auto sound = [](double bandwidth, double latency) {
    Topology topology = samples::parsed("4");
    topology.axes[0].bandwidth = bandwidth;
    topology.axes[0].latency = latency;
    return topology.validate().ok();
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(sound(0.5, 1e-6));
  EXPECT_TRUE(sound(std::numeric_limits<double>::max(), 0));
  for (const double bandwidth : {0.0, -0.0, -1.0, kInfinity, kNan}) {
    EXPECT_FALSE(sound(bandwidth, 0)) << bandwidth;
  }
  for (const double latency : {-0.0, -1.0, kInfinity, kNan}) {
    EXPECT_FALSE(sound(1, latency)) << latency;
  }
}

// Dead links and dead nodes: which rank is where, which axes are lines, what is refused.

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
    const Topology topology = damaged(test_case.shape, test_case.nodes, {}, test_case.order);
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
  const Topology topology = damaged("3x3", {"1,1"});
  EXPECT_EQ(topology.neighbour({0, 1}, {1, 0}), -1);
  EXPECT_EQ(topology.neighbour({0, 1}, {2, 0}), topology.rankOf({2, 1}));
}

TEST(TopologyDamage, LinksWorkBothWaysOrNot) {
  const Topology topology = damaged("4x3m", {"0,2"}, {"3,1:X", "2,0:Y"});
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
  const Topology topology = damaged("2", {}, {"0:X"});
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
  const Topology topology = damaged("4x5x3m", {}, {"0,2,1:Y", "3,2,0:Y", "3,1,1:X"});
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
  EXPECT_TRUE(damaged("4x5", {}, {"0,2:Y", "1,3:Y"}).isBroken());
  EXPECT_FALSE(damaged("4x5", {}, {"0,2:Y", "1,3:Y"}).isLine(1));
  EXPECT_DOUBLE_EQ(damaged("4x5", {}, {"0,2:Y", "1,3:Y"}).capacity(1), 1);
  EXPECT_TRUE(damaged("4x5m", {}, {"0,2:Y"}).isBroken());
  EXPECT_TRUE(damaged("4x2m", {}, {"0,0:Y"}).isBroken());
  EXPECT_TRUE(damaged("4x5", {"1,1"}).isBroken());
}

TEST(TopologyDamage, TablesAreOrderedHoweverTheyAreFilled) {
  const Topology topology = damaged("4x4", {"2,1", "1,0"}, {"3,3:Y", "1,0:X", "3,3:X"}, "YX");
  EXPECT_EQ(topology, damaged("4x4", {"1,0", "2,1"}, {"1,0:X", "3,3:X", "3,3:Y"}, "YX"));
  EXPECT_TRUE(topology.validate().ok()) << topology.validate().message();
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
  Topology twice = damaged("4", {"2"}, {"1:X"});
  EXPECT_EQ(twice.addDeadNode({2}).message(), "dead node (2): given twice");
  EXPECT_EQ(twice.addDeadLink({{1}, 0}).message(), "dead link (1)X: given twice");
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
        EXPECT_TRUE(status.message().starts_with("topology: the damage disconnects ("));
      }
      connected += status.ok();
      ++total;
    }
  }
  EXPECT_GT(connected, total / 8);
  EXPECT_LT(connected, total - total / 8);
}

TEST(TopologyDamage, ConnectionOfALargeTorusIsCheap) {
  EXPECT_TRUE(damaged("1000x1000x1000", {"500,0,0"}, {"3,999,7:Y"}).validate().ok());
  EXPECT_EQ(damaged("2000000000", {"5", "1000000000"}).validate().message(),
            "topology: the damage disconnects (0) and (6)");
  EXPECT_EQ(damaged("1", {"0"}).validate().message(), "topology: every node is dead");
}

TEST(TopologyDamage, VolumesWithoutDeadNodes) {
  const Topology topology = damaged("4x3+2", {"1,1", "3,2"});
  const Ranges all{{{0, 4}, {0, 3}, {0, 2}}};
  EXPECT_EQ(volume(all, topology), 24u);
  EXPECT_EQ(liveVolume(all, topology), 20u);
  EXPECT_EQ(liveVolume({{{3, 2}, {0, 3}, {1, 1}}}, topology), 5u);  // X = 3, 0
  EXPECT_EQ(liveVolume({{{1, 1}, {1, 1}, {0, 2}}}, topology), 0u);
}

}  // namespace
}  // namespace torc
