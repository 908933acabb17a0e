// Lower bounds: golden numbers from papers and from independent calculations, and properties over
// random shapes.
#include "model/bounds/bounds.h"

#include <bit>
#include <cmath>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "model/bounds/network.h"
#include "model/bounds/twisted.h"

namespace torc::model {
namespace {

CollectiveRow row(llvm::StringRef name) {
  return cantFail(parseBoundedCollective(name));
}

/// Links of 1 byte/s; relative bandwidths per dimension where given. No start-up times.
Machine machineOf(llvm::StringRef shape, std::vector<double> bandwidths = {}) {
  Machine generic;
  generic.name = "test";
  generic.dimensions = {MachineDimension{.size = 4, .bandwidth = 1}};
  Machine machine = cantFail(partitionOf(generic, shape));
  for (std::size_t i = 0; i < bandwidths.size(); ++i)
    machine.dimensions[i].bandwidth = bandwidths[i];
  return machine;
}

Topology topologyFor(const Machine& machine) {
  return cantFail(topologyOf(machine));
}

double bandwidth(const CollectiveRow& collective, const Machine& machine, double bytes = 1) {
  return lowerBound(machine, {collective, bytes}).bandwidth_s;
}

double share(llvm::StringRef shape, std::vector<double> bandwidths = {}) {
  return 2 * bandwidth(row("allgather"), machineOf(shape, std::move(bandwidths)));
}

// T* of unequal links, lines and mixes, in n beta / 2: computed apart from the project.
TEST(OptimalShare, GoldenNumbers) {
  EXPECT_DOUBLE_EQ(share("4x4x4", {1, 1, 0.5}), 0.39375);
  EXPECT_NEAR(share("2mx4x4"), 0.3875, 1e-12);
  EXPECT_NEAR(share("4x4x8x2m"), 0.284598, 1e-6);
  EXPECT_NEAR(share("8x8x8m"), 0.399219, 1e-6);
  EXPECT_NEAR(share("8mx8mx8m"), 0.665365, 1e-6);
  EXPECT_NEAR(share("2mx3x2mx8x8x8m"), 0.222186, 1e-6);
  EXPECT_DOUBLE_EQ(share("2mx2m"), 0.75);
  EXPECT_DOUBLE_EQ(share("8x4x2m"), 0.39375);
  // A fast pair of nodes, slow between pairs: what a pair has to get binds, not what a node has to.
  EXPECT_DOUBLE_EQ(share("2x32", {1, 0.25}), 1.9375);
  EXPECT_EQ(share("1x1"), 0);
}

TEST(OptimalShare, NamesAxesOfTheTopology) {
  const Bound bound = lowerBound(machineOf("1x2x1x32+4", {1, 1, 1, 0.25}), {row("allgather"), 1});
  EXPECT_EQ(bound.dimensions, 0b0010u);
}

/// A torus of up to four dimensions, sizes 1 to 9, lines and bandwidths among them.
Machine randomMachine() {
  const auto dimensions = *rc::gen::inRange<std::size_t>(1, 5);
  Machine machine;
  for (std::size_t i = 0; i < dimensions; ++i) {
    MachineDimension dimension;
    dimension.size = *rc::gen::inRange<std::uint32_t>(1, 10);
    dimension.torus = *rc::gen::inRange(0, 3) > 0;
    dimension.bandwidth = *rc::gen::element(1.0, 2.0, 4.0, 8.0);
    dimension.width = *rc::gen::inRange<std::uint32_t>(0, 3);
    machine.dimensions.push_back(dimension);
  }
  return machine;
}

TEST(OptimalShare, IsTheFormula) {
  EXPECT_TRUE(rc::check([] {
    const Machine machine = randomMachine();
    const Topology topology = topologyFor(machine);
    double nodes = 1;
    std::vector<Axis> axes;
    for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
      nodes *= topology.axes[i].size;
      if (topology.axes[i].size > 1) axes.push_back(topology.axes[i]);
    }
    double largest = 0, capacity = 0, fastest = 0;
    for (std::uint32_t set = 0; set + 1 < 1u << axes.size(); ++set) {
      double inside = 1, out = 0;
      for (std::size_t i = 0; i < axes.size(); ++i) {
        if (set >> i & 1) {
          inside *= axes[i].size;
        } else {
          out += axes[i].capacity();
        }
      }
      if (set == 0) capacity = out;
      largest = std::max(largest, (1 / inside - 1 / nodes) / out);
    }
    for (std::uint32_t i = 0; i < machine.dimensions.size(); ++i) {
      if (machine.dimensions[i].size > 1) fastest = std::max(fastest, machine.linkBandwidth(i));
    }
    const double best = 2 * fastest * bandwidth(row("allgather"), machine);
    RC_ASSERT(std::abs(best - largest) <= 1e-9 * largest);
    if (capacity > 0) RC_ASSERT(best >= (1 - 1 / nodes) / capacity * (1 - 1e-9));
  }));
}

TEST(OptimalShare, FallsWithBandwidth) {
  EXPECT_TRUE(rc::check([] {
    Machine machine = randomMachine();
    const double before = bandwidth(row("allgather"), machine);
    machine.dimensions[*rc::gen::inRange<std::size_t>(0, machine.dimensions.size())].bandwidth *= 2;
    RC_ASSERT(bandwidth(row("allgather"), machine) <= before);
  }));
}

// Equal links: (p - 1) / p n beta / (2 N), whatever the sizes; allreduce twice.
TEST(Bounds, EqualLinks) {
  EXPECT_TRUE(rc::check([] {
    const auto dimensions = *rc::gen::inRange<std::size_t>(1, 6);
    std::string shape;
    double nodes = 1;
    for (std::size_t i = 0; i < dimensions; ++i) {
      const int size = *rc::gen::inRange(2, 40);
      nodes *= size;
      shape += (i > 0 ? "x" : "") + std::to_string(size);
    }
    const Machine machine = machineOf(shape);
    const double expected = (nodes - 1) / nodes / (2.0 * static_cast<double>(dimensions));
    auto near = [](double a, double b) { return std::abs(a - b) <= 1e-9 * b; };
    RC_ASSERT(near(bandwidth(row("allgather"), machine), expected));
    RC_ASSERT(near(bandwidth(row("reduce_scatter"), machine), expected));
    RC_ASSERT(near(bandwidth(row("scatter"), machine), expected));
    RC_ASSERT(near(bandwidth(row("gather"), machine), expected));
    RC_ASSERT(near(bandwidth(row("allreduce"), machine), 2 * expected));
    RC_ASSERT(near(lowerBound(machine, {row("allreduce"), 1}).reduce_scatter_allgather_s.value(),
                   2 * expected));
    RC_ASSERT(near(bandwidth(row("broadcast"), machine), 0.5 / static_cast<double>(dimensions)));
    RC_ASSERT(near(bandwidth(row("reduce"), machine), 0.5 / static_cast<double>(dimensions)));
    // The paper's unidirectional model: twice.
    for (const CollectiveRow& kind : {row("allgather"), row("reduce_scatter"), row("allreduce")}) {
      RC_ASSERT(
          near(lowerBound(machine, {kind, 1, true}).bandwidth_s, 2 * bandwidth(kind, machine)));
    }
  }));
}

TEST(Bounds, Lines) {
  // The corner of a mesh has N links.
  EXPECT_DOUBLE_EQ(bandwidth(row("broadcast"), machineOf("8mx8mx8m")), 1.0 / 3);
  EXPECT_DOUBLE_EQ(bandwidth(row("allgather"), machineOf("8mx8m")), 63.0 / 64 / 2);
  EXPECT_DOUBLE_EQ(bandwidth(row("broadcast"), machineOf("8mx8")), 1.0 / 3);
  // A scatter's root may be inside.
  EXPECT_DOUBLE_EQ(bandwidth(row("scatter"), machineOf("8mx8m")), 63.0 / 64 / 4);
  // Partial sums up a line and results down it, at the same time: an allreduce in n beta, where a
  // reduce_scatter and an allgather, one after the other, take (p - 1) / p of twice that.
  const Bound line = lowerBound(machineOf("8m"), {row("allreduce"), 1});
  EXPECT_DOUBLE_EQ(line.bandwidth_s, 1);
  EXPECT_DOUBLE_EQ(line.reduce_scatter_allgather_s.value(), 2 * 7.0 / 8);
  // Every link of a mesh carries one element for each of p - 1 messages: 63 n over 112 links.
  const Bound mesh = lowerBound(machineOf("8mx8m"), {row("allreduce"), 1});
  EXPECT_DOUBLE_EQ(mesh.bandwidth_s, 63.0 / 112);
  EXPECT_EQ(mesh.limit, BandwidthLimit::kSplit);
  // Two nodes with one cable: the same as two half-wide ways round.
  EXPECT_DOUBLE_EQ(bandwidth(row("allreduce"), machineOf("8x4x2m")), 0.39375);
  // A link that carries one direction at a time passes on everything once, a line as well.
  EXPECT_DOUBLE_EQ(lowerBound(machineOf("8m"), {row("allgather"), 1, true}).bandwidth_s, 1);
}

/// Of an alltoall in which each rank sends each other `bytes`.
double bandwidthOfPairs(const Machine& machine, double bytes = 1) {
  const double ranks =
      static_cast<double>(machine.nodes()) * std::max<double>(machine.ranks_per_node, 1);
  return bandwidth(row("alltoall"), machine, bytes * ranks);
}

// Section 5: link loads in messages of m bytes; odd sizes floor(d^2 / 4), lines twice.
TEST(Bounds, AllToAll) {
  EXPECT_DOUBLE_EQ(bandwidthOfPairs(machineOf("8x8x8")), 512);
  EXPECT_DOUBLE_EQ(bandwidthOfPairs(machineOf("8x32x16")), 16384);
  EXPECT_DOUBLE_EQ(bandwidthOfPairs(machineOf("40x32x16")), 102400);
  EXPECT_DOUBLE_EQ(bandwidthOfPairs(machineOf("9x9x9")), 810);
  EXPECT_DOUBLE_EQ(bandwidthOfPairs(machineOf("7x5x3")), 90);
  EXPECT_DOUBLE_EQ(bandwidthOfPairs(machineOf("8mx8mx8m")), 1024);
  EXPECT_DOUBLE_EQ(bandwidthOfPairs(machineOf("9mx9mx9m")), 1620);
  EXPECT_DOUBLE_EQ(bandwidthOfPairs(machineOf("8x8x8", {1, 1, 0.25})), 2048);
  // Two ranks on a node: four times the messages between two nodes.
  EXPECT_DOUBLE_EQ(bandwidthOfPairs(machineOf("8x8x8+2"), 3), 4 * 3 * 512);
  EXPECT_DOUBLE_EQ(lowerBound(machineOf("9x9x9"), {row("alltoall"), 729, true}).bandwidth_s, 1620);
}

TEST(Bounds, Ports) {
  Machine machine = machineOf("5x5x5");
  machine.ports = 2;
  EXPECT_DOUBLE_EQ(bandwidth(row("allgather"), machine), 124.0 / 125 / 2);
  EXPECT_DOUBLE_EQ(bandwidth(row("allreduce"), machine), 2 * 124.0 / 125 / 2);
  EXPECT_DOUBLE_EQ(bandwidth(row("broadcast"), machine), 1.0 / 2);
  EXPECT_TRUE(lowerBound(machine, {row("broadcast"), 1}).ports_limit);
  EXPECT_EQ(lowerBound(machine, {row("barrier"), 0}).rounds, 5u);  // 3^5 >= 125
  machine.ports = 6;
  EXPECT_DOUBLE_EQ(bandwidth(row("allgather"), machine), 124.0 / 125 / 6);
  EXPECT_FALSE(lowerBound(machine, {row("allgather"), 1}).ports_limit);
  // The fastest links are those to use.
  machine = machineOf("5x5", {1, 3});
  machine.ports = 3;
  EXPECT_DOUBLE_EQ(bandwidth(row("scatter"), machine), 24.0 / 25 / 7);
}

TEST(Bounds, Compute) {
  Machine machine = machineOf("4x4+2");
  machine.gamma = 16;
  EXPECT_DOUBLE_EQ(lowerBound(machine, {row("allreduce"), 10}).compute_s, 10 * 31.0 / 16 * 16 / 2);
  EXPECT_DOUBLE_EQ(lowerBound(machine, {row("allgather"), 10}).compute_s, 0);
  machine.memory_bandwidth = 0.25;  // 12 seconds per byte against 8
  EXPECT_DOUBLE_EQ(lowerBound(machine, {row("reduce"), 16}).compute_s, 16 * 31.0 / 16 * 12);
  const Bound bound = lowerBound(machine, {row("reduce"), 16});
  EXPECT_DOUBLE_EQ(bound.bound_s, bound.compute_s);
}

TEST(Bounds, Latency) {
  Machine machine = machineOf("8x6mx5");
  machine.alpha = 1;
  machine.overhead = 10;
  machine.latency = 100;
  for (MachineDimension& dimension : machine.dimensions)
    dimension.latency = 1000;
  const Bound all = lowerBound(machine, {row("barrier"), 0});
  EXPECT_EQ(all.neighbour_rounds, 4u + 5u + 2u);
  EXPECT_DOUBLE_EQ(all.latency_s, 121 + 11 * 1000.0);
  EXPECT_DOUBLE_EQ(all.bound_s, all.latency_s);
  EXPECT_DOUBLE_EQ(all.round_s, 1121);
  EXPECT_EQ(all.rounds, 3u);  // 7^3 >= 240
  EXPECT_EQ(lowerBound(machine, {row("broadcast"), 1}).neighbour_rounds, 4u + 3u + 2u);
  EXPECT_DOUBLE_EQ(lowerBound(machineOf("1x1"), {row("allreduce"), 9}).bound_s, 0);
}

/// One dead link, from the origin up along `dimension`.
Machine withDeadLink(Machine machine, std::uint32_t dimension) {
  machine.dead_links = {{Coordinates{}, dimension}};
  return machine;
}

// A node at the end of a dead link has 2N - 1 links (deadlink.py).
TEST(DamagedBounds, OneDeadLink) {
  for (llvm::StringRef shape : {"4x4x4", "3x5", "8x8x8x2", "40x32x16", "64x64x64x64"}) {
    const Machine machine = machineOf(shape);
    const double nodes = static_cast<double>(machine.nodes());
    const double links = 2.0 * static_cast<double>(machine.dimensions.size()) - 1;
    for (std::uint32_t i = 0; i < machine.dimensions.size(); ++i) {
      const Machine damaged = withDeadLink(machine, i);
      EXPECT_NEAR(bandwidth(row("allgather"), damaged), (nodes - 1) / nodes / links, 1e-12);
      EXPECT_NEAR(bandwidth(row("reduce_scatter"), damaged), (nodes - 1) / nodes / links, 1e-12);
      EXPECT_NEAR(bandwidth(row("broadcast"), damaged), 1 / links, 1e-12);
    }
  }
  // Taken as a line cut at the dead link, 2x3 and 2x32 lose more: that is the lines' bound, of a
  // schedule, and not the torus's.
  EXPECT_NEAR(share("2x3m") / (5.0 / 6 * 2 / 3), 1.2, 1e-9);
  EXPECT_NEAR(share("2x32m") / (63.0 / 64 * 2 / 3), 1.476, 1e-3);
  EXPECT_NEAR(bandwidth(row("allgather"), withDeadLink(machineOf("2x32"), 1)), 63.0 / 64 / 3,
              1e-12);
}

TEST(DamagedBounds, DeadNode) {
  Machine machine = machineOf("4x4x4");
  machine.dead_nodes = {{1, 2, 3}};
  EXPECT_DOUBLE_EQ(bandwidth(row("allgather"), machine), 62.0 / 63 / 5);
  EXPECT_DOUBLE_EQ(bandwidth(row("broadcast"), machine), 1.0 / 5);
  EXPECT_DOUBLE_EQ(bandwidth(row("allreduce"), machine), 62.0 / 186);  // 192 - 6 links
  EXPECT_EQ(lowerBound(machine, {row("allreduce"), 1}).nodes, 63);
  // All around a node but for one link.
  machine.dead_nodes = {{0, 0, 1}, {0, 0, 3}, {0, 1, 0}, {0, 3, 0}, {1, 0, 0}};
  EXPECT_DOUBLE_EQ(bandwidth(row("allgather"), machine), 58.0 / 59);
  EXPECT_DOUBLE_EQ(bandwidth(row("broadcast"), machine), 1);
}

TEST(DamagedBounds, CutsThatAreNoSubtorus) {
  // A ring of 12 whose halves hang together by one link each, and one of them is dead.
  Machine ring = machineOf("12");
  ring.dead_links = {{{3}, 0}};
  EXPECT_DOUBLE_EQ(bandwidth(row("broadcast"), ring), 1);
  EXPECT_DOUBLE_EQ(bandwidthOfPairs(ring), 36);  // a line, cut in the middle
  // Two nodes side by side that the damage leaves two links: no sub-torus, but the narrowest cut.
  Machine torus = machineOf("5x5");
  torus.dead_links = {{{1, 1}, 1}, {{1, 0}, 1}, {{2, 1}, 1}, {{2, 0}, 1}};
  EXPECT_EQ(minimumCut(Network(torus)), 2);
  EXPECT_DOUBLE_EQ(bandwidth(row("broadcast"), torus), 0.5);
}

/// `machine` with up to three dead links or nodes that leave two nodes or more, connected.
Machine randomDamage(Machine machine) {
  machine.name = "damaged";
  const auto dimensions = machine.dimensions.size();
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
    Machine more = machine;
    Coordinates at{};
    for (std::size_t k = 0; k < dimensions; ++k) {
      const auto size = static_cast<std::int32_t>(machine.dimensions[k].size);
      at[k] = *rc::gen::inRange<std::int32_t>(0, size);
    }
    if (*rc::gen::arbitrary<bool>()) {
      more.dead_nodes.push_back(at);
    } else {
      more.dead_links.push_back(
          {at, static_cast<std::uint32_t>(*rc::gen::inRange<std::size_t>(0, dimensions))});
    }
    // As a file is checked: the link exists, nothing is named twice, the rest holds together.
    llvm::Expected<Machine> checked = parseMachine(machineJson(more), "damage");
    if (!checked) {
      consumeError(checked.takeError());
    } else if (checked->nodes() - checked->dead_nodes.size() >= 2) {
      machine = *checked;
    }
  }
  return machine;
}

/// Of 2 to 12 nodes.
Machine smallMachine() {
  Machine machine = machineOf(*rc::gen::elementOf(std::vector<std::string>{
      "2", "3", "7", "12", "2x2", "3x2", "3x3", "4x3", "2x5", "2x2x2", "2x2x3", "2x1x4"}));
  for (MachineDimension& dimension : machine.dimensions) {
    dimension.torus = *rc::gen::arbitrary<bool>();
    dimension.bandwidth = *rc::gen::element(1.0, 2.0, 3.0);
  }
  return machine;
}

/// Calls `visit` with the live nodes in each set of nodes and the bandwidth of its links, by
/// looking at every link.
void forEachSet(const Machine& machine, const std::function<void(double, double)>& visit) {
  const Network network(machine);
  std::vector<Coordinates> nodes;
  Coordinates at{};
  for (std::uint64_t i = 0; i < machine.nodes(); ++i) {
    if (!network.isDead(at)) nodes.push_back(at);
    for (std::size_t k = 0; k < network.dimensions().size(); ++k) {
      if (++at[k] < static_cast<std::int32_t>(network.dimensions()[k].size)) break;
      at[k] = 0;
    }
  }
  for (std::uint32_t set = 1; set + 1 < 1u << nodes.size(); ++set) {
    double bandwidth = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (std::uint32_t k = 0; k < network.dimensions().size(); ++k) {
        Coordinates up = nodes[i];
        if (!network.step(up, k, +1) || network.isDead(network.linkFrom(nodes[i], k, +1))) continue;
        const auto j = std::find(nodes.begin(), nodes.end(), up) - nodes.begin();
        if ((set >> i & 1) != (set >> j & 1)) bandwidth += network.dimensions()[k].bandwidth;
      }
    }
    visit(std::popcount(set), bandwidth);
  }
}

// Against all sets of nodes of small machines: no bound is above what a set demands at worst, the
// minimum cut is the narrowest, and broadcast reaches it.
TEST(DamagedBounds, AgainstAllCuts) {
  EXPECT_TRUE(rc::check([] {
    const Machine machine = randomDamage(smallMachine());
    const Network network(machine);
    double narrowest = INFINITY, allgather = 0, alltoall = 0;
    const double all = network.liveNodes();
    forEachSet(machine, [&](double nodes, double bandwidth) {
      narrowest = std::min(narrowest, bandwidth);
      allgather = std::max(allgather, (1 - nodes / all) / bandwidth);
      alltoall = std::max(alltoall, nodes * (all - nodes) / bandwidth);
    });
    RC_ASSERT(minimumCut(network) == narrowest);
    RC_ASSERT(bandwidth(row("allgather"), machine) <= allgather * (1 + 1e-9));
    if (machine.damaged()) {
      RC_ASSERT(std::abs(bandwidth(row("broadcast"), machine) * narrowest - 1) < 1e-9);
    }
    network.forEachCut([&](const Cut& cut) {
      RC_ASSERT(cut.nodes * (all - cut.nodes) / cut.bandwidth <= alltoall * (1 + 1e-9));
    });
  }));
}

// A machine with dead links is no faster than without.
TEST(DamagedBounds, DamageNeverHelps) {
  EXPECT_TRUE(rc::check([] {
    const Machine machine = *rc::gen::arbitrary<bool>() ? randomMachine() : smallMachine();
    RC_PRE(machine.nodes() >= 2);
    Machine damaged = randomDamage(machine);
    damaged.dead_nodes.clear();
    for (const CollectiveRow& kind :
         {row("allgather"), row("reduce_scatter"), row("allreduce"), row("broadcast"),
          row("reduce"), row("scatter"), row("gather"), row("alltoall")}) {
      RC_ASSERT(bandwidth(kind, damaged) >= bandwidth(kind, machine) * (1 - 1e-9));
    }
  }));
}

TEST(Bounds, Names) {
  EXPECT_EQ(boundedCollectives().size(), 13u);
  for (const llvm::StringRef name : boundedCollectives()) {
    llvm::Expected<CollectiveRow> parsed = parseBoundedCollective(name);
    ASSERT_TRUE(bool(parsed));
    EXPECT_EQ(llvm::StringRef(parsed->name), name);
  }
  EXPECT_EQ(toString(parseBoundedCollective("sort").takeError()),
            "unknown collective 'sort'; docs/research/bounds.md names those that have bounds");
}

// --- twisted tori
// -----------------------------------------------------------------------------------

TEST(Twisted, EveryNodeHasSixNeighboursThatHaveIt) {
  for (const char* shape : {"3x3x6", "4x8x4", "3x6x6", "8x4x8"}) {
    const Topology places = *parseTopology(shape);
    std::set<std::pair<std::uint32_t, std::uint32_t>> links;
    for (const GraphLink& link : twistedLinks(places, 1, 0)) {
      EXPECT_NE(link.from, link.to);
      links.emplace(link.from, link.to);
    }
    EXPECT_EQ(links.size(), 6 * places.ranks()) << shape;
    for (const auto& [from, to] : links)
      EXPECT_TRUE(links.contains({to, from})) << shape;
  }
  // Along a short axis the way round is 2k long, and passes the middle of the long axis.
  const Topology places = *parseTopology("4x4x8");
  const std::vector<GraphLink> links = twistedLinks(places, 1, 0);
  EXPECT_TRUE(llvm::is_contained(
      links, GraphLink{0, static_cast<std::uint32_t>(places.rankOf({0, 1, 1})), 1, 0}));
}

// Sums of distances by a search that was written apart from this one.
TEST(Twisted, AllToAllIsBoundByDistances) {
  EXPECT_EQ(twistedDistances({4, 4, 8}).sum, 440);
  EXPECT_EQ(twistedDistances({8, 4, 4}).sum, 440);
  EXPECT_EQ(twistedDistances({4, 8, 8}).sum, 1104);
  EXPECT_EQ(twistedDistances({12, 24, 24}).sum, 6 * 15096);
  EXPECT_EQ(twistedDistances({4, 4, 8}).furthest, 6u);
  EXPECT_EQ(twistedDistances({8, 16, 16}).furthest, 12u);
  // Messages of a byte: the load of a link. 128 and 256 on the tori of these sizes.
  EXPECT_NEAR(bandwidth(row("alltoall"), machineOf("4x4x8t"), 128), 440.0 / 6, 1e-9);
  EXPECT_NEAR(bandwidth(row("alltoall"), machineOf("4x4x8"), 128), 128, 1e-9);
  EXPECT_NEAR(bandwidth(row("alltoall"), machineOf("8x4x8t"), 256), 184, 1e-9);
  EXPECT_NEAR(bandwidth(row("alltoall"), machineOf("4x8x8"), 256), 256, 1e-9);
}

TEST(Twisted, WholeVectorsAreBoundByANode) {
  const Machine machine = machineOf("4x4x8t");
  EXPECT_EQ(shapeOf(machine), "4x4x8t");
  EXPECT_EQ(shapeOf(machineOf("4x4x8t+2")), "4x4x8t+2");
  EXPECT_NEAR(bandwidth(row("allgather"), machine), 127.0 / 128 / 6, 1e-12);
  EXPECT_NEAR(bandwidth(row("allreduce"), machine), 2 * 127.0 / 128 / 6, 1e-12);
  EXPECT_NEAR(bandwidth(row("broadcast"), machine), 1.0 / 6, 1e-12);
  EXPECT_NEAR(bandwidth(row("scatter"), machine), 127.0 / 128 / 6, 1e-12);
  EXPECT_EQ(lowerBound(machine, {row("barrier"), 0}).neighbour_rounds, 6u);
  EXPECT_EQ(toString(topologyOf(machine).takeError()),
            "torus '4x4x8t': of a twisted torus bounds are known, no schedules");
}

// A dimension of which one plane is alive has neither links nor bytes.
TEST(AllToAll, AlongADimensionThatIsDead) {
  Machine machine = machineOf("4x2");
  for (std::int32_t x = 0; x < 4; ++x)
    machine.dead_nodes.push_back({x, 1});
  EXPECT_NEAR(bandwidth(row("alltoall"), machine), bandwidth(row("alltoall"), machineOf("4")),
              1e-12);
}

}  // namespace
}  // namespace torc::model
