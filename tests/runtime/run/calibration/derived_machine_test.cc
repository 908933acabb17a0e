// A known network, its computed times, and the description derived from them. Every link of an axis
// has one round, and no node has two pairs in a round.
#include "runtime/run/calibration/derived_machine.h"

#include <cmath>
#include <limits>
#include <set>

#include "model/machines/machine.h"
#include "runtime/run/calibration/link_rounds.h"
#include "runtime/run/calibration/repeated_samples.h"

namespace torc::runtime {
namespace {

constexpr MeasuredSizes kSizes{1 << 18, 1 << 20, 1 << 15, 1 << 17};

/// Of a cable in the directions up and down: bytes/s.
struct Cable {
  double up = 1e9, down = 1e9;
};

struct Network {
  explicit Network(std::string_view shape) : topology(*parseTopology(shape)) {}

  Topology topology;
  double alpha = 2e-6, overhead = 5e-7, hop = 1e-7;
  Cable cables[kMaxDimensions];
  double both_factor = 2;  // of both directions against the slower one
  double ports = 14;       // links that a node drives at full speed
  double eager = 8192, buffered = 0;

  double smallOneWay(std::uint32_t axis, int hops) const {
    return alpha + 2 * overhead + hops * hop + 8 / std::min(cables[axis].up, cables[axis].down);
  }

  TimesOfTwo times(double shorter, double longer, double bandwidth) const {
    const double start_up = 10 * alpha;
    return {start_up + shorter / bandwidth, start_up + longer / bandwidth};
  }

  NodeMeasurement measured(std::int32_t rank) const {
    NodeMeasurement node;
    const Coordinates at = topology.coordinatesOf(rank);
    int links = 0;
    double slowest = 1e18;
    const auto dimensions = static_cast<std::uint32_t>(topology.dimensions());
    for (std::uint32_t axis = 0; axis < dimensions; ++axis) {
      const Axis& of = topology.axes[axis];
      for (int round = 0; round < linkRounds(of); ++round) {
        const LinkEnd end = linkEnd(of, at[axis], round);
        if (end == LinkEnd::kNone) continue;
        const Cable& cable = cables[axis];
        ++links;
        slowest = std::min({slowest, cable.up, cable.down});
        if (end != LinkEnd::kLow) continue;
        LinkMeasurement& link = node.links[axis];
        link.small_s = 2 * smallOneWay(axis, 1);
        link.up = times(kSizes.shorter, kSizes.longer, cable.up);
        link.down = times(kSizes.shorter, kSizes.longer, cable.down);
        link.both =
            times(kSizes.shorter, kSizes.longer, both_factor / 2 * std::min(cable.up, cable.down));
      }
      if (farthest(of) > 1 && at[axis] == 0) {
        node.links[axis].distant_s = 2 * smallOneWay(axis, farthest(of));
      }
    }
    const double each = slowest * both_factor / 2 * std::min(1.0, ports / links);
    node.all = times(kSizes.all_shorter, kSizes.all_longer, each);
    node.send_s = node.receive_s = overhead;
    node.ahead_bytes = eager;
    node.at_once_bytes = std::max(eager, buffered);
    node.reduce_s = 1e-10;
    node.memory_alone = 2e10;
    node.memory_share = 3e9;
    return node;
  }

  std::vector<NodeMeasurement> measured() const {
    std::vector<NodeMeasurement> all;
    for (std::uint64_t rank = 0; rank < topology.ranks(); ++rank)
      all.push_back(measured(static_cast<std::int32_t>(rank)));
    return all;
  }

  DerivedMachine derive(const std::vector<NodeMeasurement>& all) const {
    return deriveMachine(
        topology, all, [&](std::int32_t rank) { return topology.coordinatesOf(rank); }, kSizes);
  }

  /// The machine as torc reads its description.
  model::Machine machine() const {
    llvm::Expected<model::Machine> read =
        model::parseMachine(machineText(derive(measured()), "known", "a test"), "known.json");
    if (!read) {
      ADD_FAILURE() << toString(read.takeError());
      return {};
    }
    return *read;
  }
};

#define EXPECT_ABOUT(a, b) EXPECT_NEAR(a, b, 1e-4 * (b))

TEST(DerivedMachine, IsTheNetworkThatWasMeasured) {
  Network network("4x6m");
  network.cables[0] = {2e9, 1.5e9};
  network.hop = 0;
  network.buffered = 65536;
  const model::Machine machine = network.machine();
  ASSERT_EQ(machine.dimensions.size(), 2u);
  EXPECT_TRUE(machine.dimensions[0].torus);
  EXPECT_FALSE(machine.dimensions[1].torus);
  EXPECT_EQ(machine.dimensions[1].size, 6u);
  EXPECT_ABOUT(machine.dimensions[0].bandwidth, 1.5e9);
  EXPECT_ABOUT(machine.dimensions[1].bandwidth, 1e9);
  EXPECT_ABOUT(machine.alpha, 2e-6);
  EXPECT_ABOUT(machine.overhead, 5e-7);
  EXPECT_EQ(machine.eager, 8192);
  EXPECT_EQ(machine.buffered, 65536);
  EXPECT_ABOUT(machine.gamma, 1e-10);
  EXPECT_ABOUT(machine.memory_bandwidth, 3e9);
  EXPECT_EQ(machine.latency, 0);
  EXPECT_EQ(machine.ports, 0u);
  EXPECT_EQ(machine.cores, 1u);
  for (const char* key : {"alpha", "dimensions.bandwidth", "eager", "memory_bandwidth"}) {
    EXPECT_TRUE(
        std::ranges::any_of(machine.sources, [&](const auto& of) { return of.first == key; }))
        << key << " has no source";
  }
}

TEST(DerivedMachine, HopsThatTakeLongEnoughAreTold) {
  Network network("4x6m");
  network.hop = 1e-6;
  model::Machine machine = network.machine();
  EXPECT_ABOUT(machine.dimensions[0].latency, 1e-6);
  EXPECT_ABOUT(machine.dimensions[1].latency, 1e-6);
  EXPECT_ABOUT(machine.alpha, 2e-6);
  network.hop = 1e-9;
  machine = network.machine();
  EXPECT_EQ(machine.dimensions[0].latency, 0);
}

TEST(DerivedMachine, ADimensionWithoutFartherNodesHasTheRestForAHop) {
  Network network("2x8x2x1");
  network.hop = 1e-6;
  const model::Machine machine = network.machine();
  EXPECT_ABOUT(machine.dimensions[0].latency, 1e-6);
  EXPECT_ABOUT(machine.dimensions[1].latency, 1e-6);
  EXPECT_EQ(machine.dimensions[3].latency, 0);
  EXPECT_ABOUT(machine.alpha, 2e-6);
}

TEST(DerivedMachine, StartUpOfNothingIsLeftOut) {
  Network network("4x4");
  network.alpha = network.overhead = 0;
  const std::string text = machineText(network.derive(network.measured()), "known", "");
  EXPECT_EQ(text.find("\"alpha"), std::string::npos) << text;
  EXPECT_EQ(text.find("\"overhead"), std::string::npos) << text;
}

TEST(DerivedMachine, OverheadsAreNoMoreThanTheMessage) {
  Network network("4x4");
  std::vector<NodeMeasurement> all = network.measured();
  for (NodeMeasurement& node : all)
    node.send_s = node.receive_s = 1;
  for (const DerivedNumber& number : network.derive(all).numbers) {
    EXPECT_NE(number.key, "alpha");
    if (number.key == "overhead") {
      EXPECT_ABOUT(number.value, (network.smallOneWay(0, 1) - 8e-9) / 2);
    }
  }
}

TEST(DerivedMachine, PortsOfANodeThatCannotDriveAllItsLinks) {
  Network network("4x4x4");
  EXPECT_EQ(network.machine().ports, 0u);
  network.ports = 2;
  EXPECT_EQ(network.machine().ports, 2u);
  network.ports = 0.2;
  EXPECT_EQ(network.machine().ports, 1u);
  // One link that carries no more both ways than one way is no lack of ports.
  network.ports = 14;
  network.both_factor = 1;
  EXPECT_EQ(network.machine().ports, 0u);
}

TEST(DerivedMachine, ASlowLinkIsNamedAndChangesNoBandwidth) {
  Network network("4x3x2m");
  std::vector<NodeMeasurement> all = network.measured();
  const std::int32_t from = network.topology.rankOf({2, 2, 1});
  LinkMeasurement& slow = all[static_cast<std::size_t>(from)].links[1];
  slow.down = network.times(kSizes.shorter, kSizes.longer, 1e6);
  slow.both = slow.down;
  slow.small_s *= 5;
  for (NodeMeasurement& node : all)  // all wait for it
    node.all = network.times(kSizes.all_shorter, kSizes.all_longer, 1e6);
  const DerivedMachine machine = network.derive(all);
  EXPECT_ABOUT(machine.dimensions[1].bandwidth, 1e9);
  EXPECT_ABOUT(machine.links[1].slowest_down.value, 1e6);
  EXPECT_EQ(machine.links[1].slowest_down.from, (Coordinates{2, 2, 1}));
  EXPECT_EQ(machine.links[1].slowest_down.to, (Coordinates{2, 0, 1}));
  EXPECT_EQ(machine.links[1].slowest_latency.from, (Coordinates{2, 2, 1}));
  EXPECT_ABOUT(machine.links[0].slowest_down.value, 1e9);
  EXPECT_FALSE(std::ranges::any_of(
      machine.numbers, [](const DerivedNumber& number) { return number.key == "ports"; }));
  const std::string report = calibrationReport(machine);
  EXPECT_NE(report.find("slowest along Y: one way (2,2,1)-(2,0,1), up "), std::string::npos)
      << report;
  EXPECT_NE(report.find("down (2,0,1)->(2,2,1)"), std::string::npos) << report;
}

TEST(DerivedMachine, TwoNodesOfARingHaveTwoCables) {
  model::Machine ring = Network("2").machine();
  EXPECT_ABOUT(ring.dimensions[0].bandwidth, 5e8);
  EXPECT_EQ(ring.dimensions[0].cables(), 2u);
  const model::Machine line = Network("2m").machine();
  EXPECT_ABOUT(line.dimensions[0].bandwidth, 1e9);
  EXPECT_EQ(line.dimensions[0].cables(), 1u);
}

TEST(DerivedMachine, CoresShareTheMemoryOfANode) {
  const model::Machine machine = Network("3x1+4").machine();
  EXPECT_EQ(machine.cores, 4u);
  EXPECT_ABOUT(machine.memory_bandwidth, 1.2e10);
  EXPECT_EQ(machine.dimensions[1].bandwidth, machine.dimensions[0].bandwidth);
}

TEST(DerivedMachine, WhatWasNotMeasuredIsLeftOut) {
  Network network("4");
  std::vector<NodeMeasurement> all = network.measured();
  for (NodeMeasurement& node : all) {
    node.reduce_s = node.memory_share = node.send_s = node.receive_s = 0;
    node.at_once_bytes = node.ahead_bytes = std::numeric_limits<double>::infinity();
  }
  const std::string text = machineText(network.derive(all), "known", "");
  for (const char* key : {"gamma", "memory", "overhead", "eager", "buffered", "ports", "cores"})
    EXPECT_EQ(text.find("\"" + std::string(key)), std::string::npos) << key << " in " << text;
}

TEST(DerivedMachine, NoiseThatMakesALongMessageQuickerLeavesABandwidth) {
  Network network("4");
  std::vector<NodeMeasurement> all = network.measured();
  for (NodeMeasurement& node : all)
    node.links[0].up = {2e-3, 1e-3};
  EXPECT_ABOUT(network.derive(all).dimensions[0].bandwidth, 1e9);
  EXPECT_ABOUT(network.derive(all).links[0].up, (1 << 20) / 1e-3);
}

TEST(DerivedMachine, NamesAreEscaped) {
  const DerivedMachine derived = Network("4").derive(Network("4").measured());
  llvm::Expected<model::Machine> read =
      model::parseMachine(machineText(derived, "a\"b\\", "c\"d"), "x.json");
  ASSERT_TRUE(static_cast<bool>(read)) << toString(read.takeError());
  EXPECT_EQ(read->name, "a\"b\\");
  EXPECT_EQ(read->description, "c\"d");
}

TEST(Samples, MedianOfTheMiddle) {
  Samples samples;
  EXPECT_EQ(samples.median(), 0);
  for (const double value : {5.0, 1.0, 100.0, 2.0, 3.0})
    samples.add(value);
  EXPECT_EQ(samples.median(), 3);
  EXPECT_EQ(samples.quantile(0), 1);
  EXPECT_EQ(samples.quantile(1), 100);
}

TEST(Samples, ClearlyAboveIsMoreThanNoise) {
  Samples low, high, mixed, one;
  for (int i = 0; i < 4; ++i) {
    low.add(10 + 0.1 * i);
    high.add(12 + 0.1 * i);
    mixed.add(i % 2 == 0 ? 9 : 20);
  }
  one.add(100);
  EXPECT_TRUE(high.isClearlyAbove(low));
  EXPECT_FALSE(low.isClearlyAbove(high));
  EXPECT_FALSE(mixed.isClearlyAbove(low));
  EXPECT_FALSE(one.isClearlyAbove(low));
}

Axis axisOf(std::uint32_t size, AxisKind kind) {
  Axis axis;
  axis.size = size;
  axis.kind = kind;
  return axis;
}

class LinkRounds : public testing::TestWithParam<AxisKind> {};

TEST_P(LinkRounds, EveryLinkHasOneRoundAndNoNodeTwoPairs) {
  for (std::uint32_t size = 1; size <= 9; ++size) {
    const Axis axis = axisOf(size, GetParam());
    const auto nodes = static_cast<std::int32_t>(size);
    std::set<std::int32_t> links;  // by low end
    for (int round = 0; round < linkRounds(axis); ++round) {
      for (std::int32_t at = 0; at < nodes; ++at) {
        const LinkEnd up = linkEnd(axis, (at + 1) % nodes, round);
        const bool is_low = linkEnd(axis, at, round) == LinkEnd::kLow;
        EXPECT_EQ(is_low, up == LinkEnd::kHigh) << size << " nodes, round " << round << ", " << at;
        if (is_low) {
          EXPECT_TRUE(links.insert(at).second) << size << " nodes, " << at << " has two rounds";
        }
      }
    }
    const bool closes = size > 2 && GetParam() == AxisKind::kTorus;
    EXPECT_EQ(links.size(), closes ? size : size - 1) << size << " nodes";
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, LinkRounds, testing::Values(AxisKind::kTorus, AxisKind::kMesh));

TEST(LinkRounds, DoNotGrowWithTheAxis) {
  EXPECT_EQ(linkRounds(axisOf(100000, AxisKind::kTorus)), 2);
  EXPECT_EQ(linkRounds(axisOf(99999, AxisKind::kTorus)), 3);
  EXPECT_EQ(linkRounds(axisOf(99999, AxisKind::kMesh)), 2);
}

TEST(LinkRounds, FarthestNode) {
  EXPECT_EQ(farthest(axisOf(1, AxisKind::kTorus)), 0);
  EXPECT_EQ(farthest(axisOf(5, AxisKind::kTorus)), 2);
  EXPECT_EQ(farthest(axisOf(8, AxisKind::kTorus)), 4);
  EXPECT_EQ(farthest(axisOf(8, AxisKind::kMesh)), 7);
}

TEST(LinkRounds, LinksOfANode) {
  EXPECT_EQ(linksOfNode(*parseTopology("4x3m")), 4);
  EXPECT_EQ(linksOfNode(*parseTopology("2x2mx1+4")), 3);
  EXPECT_EQ(linksOfNode(*parseTopology("1+4")), 0);
}

}  // namespace
}  // namespace torc::runtime
