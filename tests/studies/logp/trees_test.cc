// The models of trees against numbers in the 2.5D paper's text, and against others computed by hand
// from its constants (o = 0.4 us, L = 0.8 us, 375 MB/s a link on Blue Gene/P). Binomial trees of
// ranks at any places: against times computed by hand, and against torc's simulator for places on a
// torus without shared links.
#include "studies/logp/trees.h"

#include <cmath>

#include <gtest/gtest.h>
#include <llvm/Support/Error.h>

#include "compiler/choice/choice.h"
#include "studies/logp/placed_ranks.h"
#include "tests/studies/partition.h"

namespace torc::studies {
namespace {

constexpr double kMicro = 1e-6, kMega = 1e6, kGiga = 1e9;

LogPTorus torus(llvm::StringRef machine, llvm::StringRef shape) {
  return logPTorusOf(partition(machine, shape));
}

/// Bytes/s at a size at which nothing else than bandwidth counts.
double peak(TreeTime (*time)(const LogPTorus&, double), const LogPTorus& on) {
  const double bytes = 1e15;
  return bytes / time(on, bytes).seconds();
}

TEST(LogPTrees, TakesThePapersConstants) {
  const LogPTorus bgp = torus("bgp", "8x8x8");
  EXPECT_EQ(bgp.nodes, 512);
  EXPECT_EQ(bgp.dimensions, 3u);
  EXPECT_EQ(bgp.trees, 6u);
  // Section 4.5: a get o + L = 1.2 us, a put o + 2L = 2.0 us; 375 MB/s.
  EXPECT_NEAR(bgp.overhead + bgp.latency, 1.2 * kMicro, 1e-12);
  EXPECT_NEAR(bgp.overhead + 2 * bgp.latency, 2.0 * kMicro, 1e-12);
  EXPECT_NEAR(1 / bgp.gap, 375 * kMega, 1);
  // Section 4.6: 13.6 GB/s of memory, three bytes a byte; 13.6 Gflop/s come to less.
  EXPECT_NEAR(bgp.summing, 3 / 13.6e9, 1e-15);
  // Table 1: 0.06 s/GB; 10^18 flop/s over 262,144 nodes, and no memory bandwidth.
  const LogPTorus exascale = torus("exascale-2.5d", "");
  EXPECT_EQ(exascale.nodes, 262144);
  EXPECT_NEAR(exascale.gap * kGiga, 0.06, 1e-12);
  EXPECT_NEAR(exascale.overhead, 250e-9, 1e-15);
  EXPECT_NEAR(exascale.latency, 250e-9, 1e-15);
  EXPECT_NEAR(1 / (8 * exascale.summing) * exascale.nodes, 1e18, 1e15);
}

TEST(LogPTrees, TermsOfEquations6And9) {
  // Of no bytes: 2(d+1) 0.4 + 3 0.8, and 1.6 for each of 8 d hops.
  const struct {
    const char* shape;
    double start_up, hops, binomial;
  } cases[] = {{"8", 4.0, 12.8, 4.8}, {"8x8", 4.8, 25.6, 9.6}, {"8x8x8", 5.6, 38.4, 14.4}};
  for (const auto& each : cases) {
    const LogPTorus on = torus("bgp", each.shape);
    const TreeTime empty = rectangularMulticast(on, 0);
    EXPECT_EQ(empty.bandwidth_s, 0);
    EXPECT_NEAR(empty.start_up_s, each.start_up * kMicro, 1e-12) << each.shape;
    EXPECT_NEAR(empty.hops_s, each.hops * kMicro, 1e-12) << each.shape;
    EXPECT_NEAR(binomialMulticast(on, 0).seconds(), each.binomial * kMicro, 1e-12) << each.shape;
  }
  // 375 MB take a second on one link, a sixth of one on six.
  const LogPTorus on = torus("bgp", "8x8x8");
  EXPECT_NEAR(rectangularMulticast(on, 375 * kMega).bandwidth_s, 1.0 / 6, 1e-9);
  EXPECT_NEAR(rectangularMulticast(on, 375 * kMega).seconds(), 1.0 / 6 + 44.0 * kMicro, 1e-9);
  EXPECT_NEAR(binomialMulticast(on, 375 * kMega).seconds(), 9.0 / 6 + 14.4 * kMicro, 1e-9);
}

TEST(LogPTrees, PeaksOnBlueGene) {
  // Rectangular trees "saturate all the bandwidth available in all the network links".
  EXPECT_NEAR(peak(rectangularMulticast, torus("bgp", "8")), 750 * kMega, kMega);
  EXPECT_NEAR(peak(rectangularMulticast, torus("bgp", "8x8")), 1500 * kMega, kMega);
  EXPECT_NEAR(peak(rectangularMulticast, torus("bgp", "8x8x8")), 2250 * kMega, kMega);
  // Section 4.5, ring of eight: "the model predicts a peak of two thirds of the link bandwidth".
  EXPECT_NEAR(peak(binomialMulticast, torus("bgp", "8")), 2.0 / 3 * 375 * kMega, kMega);
}

TEST(LogPTrees, ReductionHidesBehindTheNetworkOnBlueGene) {
  // Section 4.6: it "should hide entirely behind the cost of interprocessor communication".
  for (const char* shape : {"8", "8x8", "8x8x8"}) {
    const LogPTorus on = torus("bgp", shape);
    for (double bytes : {0.0, 1e3, 1e6, 1e9}) {
      EXPECT_DOUBLE_EQ(rectangularReduction(on, bytes).seconds(),
                       rectangularMulticast(on, bytes).seconds());
      EXPECT_DOUBLE_EQ(binomialReduction(on, bytes).seconds(),
                       binomialMulticast(on, bytes).seconds());
    }
  }
}

TEST(LogPTrees, ReductionWaitsForAdditionsOrMemory) {
  model::Machine machine = partition("bgp", "8x8x8");
  machine.memory_bandwidth = 3.75e8;  // 3m/beta: 8 ns/byte, against 0.44 ns/byte of the links
  EXPECT_NEAR(rectangularReduction(logPTorusOf(machine), kMega).bandwidth_s, 8e-3, 1e-9);
  EXPECT_NEAR(binomialReduction(logPTorusOf(machine), kMega).bandwidth_s, 9 * 8e-3, 1e-9);
  EXPECT_NEAR(rectangularMulticast(logPTorusOf(machine), kMega).bandwidth_s, 1e-3 / 2.25, 1e-9);
  machine.memory_bandwidth = 0;
  machine.gamma = 4e-8;  // four cores share it
  EXPECT_NEAR(rectangularReduction(logPTorusOf(machine), kMega).bandwidth_s, 1e-2, 1e-9);
}

TEST(LogPTrees, PeaksAtExascale) {
  // Section 5.2: "The peak bandwidth of binomial multicast stays the same for each partition":
  // log2(64^d) stages over 2d links are three for each link.
  for (const char* shape : {"64", "64x64", "64x64x64"}) {
    const LogPTorus on = torus("exascale-2.5d", shape);
    EXPECT_NEAR(peak(binomialMulticast, on), kGiga / 0.06 / 3, kMega) << shape;
    EXPECT_NEAR(peak(rectangularMulticast, on), 2 * on.dimensions * kGiga / 0.06, 100 * kMega);
  }
  // "to achieve peak bandwidth, large messages are required (1 GB for a 3D partition)".
  const LogPTorus on = torus("exascale-2.5d", "64x64x64");
  const double most = peak(rectangularMulticast, on);
  EXPECT_GT(kGiga / rectangularMulticast(on, kGiga).seconds(), 0.98 * most);
  EXPECT_LT(0.1 * kGiga / rectangularMulticast(on, 0.1 * kGiga).seconds(), 0.9 * most);
}

TEST(LogPTrees, MatrixMultiplicationAtExascale) {
  // Section 5.3: n = 2^22 on 64 layers of 64x64 nodes; blocks of n/64 squared doubles; multicasts
  // of A and B and a reduction of C along lines at their best bandwidth, shifts at a link's.
  // The abstract: 80 % (2D), 87 % (binomial), 95 % (rectangular). 2D comes out as 81.7 %.
  const double n = std::exp2(22), computing = 2 * n * n * n / 1e18;
  const LogPTorus line = torus("exascale-2.5d", "64");
  const double block = n / 64 * (n / 64) * 8;
  const double shifts = 2 * block * line.gap;  // 64/c of A and of B, for c = 64 layers
  auto efficiency = [&](double communicating) { return computing / (computing + communicating); };
  const double rectangular = block / peak(rectangularMulticast, line);
  const double binomial = block / peak(binomialMulticast, line);
  EXPECT_NEAR(efficiency(3 * rectangular + shifts), 0.95, 0.005);
  EXPECT_NEAR(efficiency(3 * binomial + shifts), 0.87, 0.005);
  const double small_block = n / 512 * (n / 512) * 8;  // 512x512 nodes
  EXPECT_NEAR(efficiency(2 * 512 * small_block * line.gap), 0.80, 0.02);
}

TEST(LogPTrees, OtherTopologies) {
  // A mesh has d trees, of which d - 1 cost the root an overhead each besides the first.
  const LogPTorus mesh = torus("bgp", "8mx8mx8m");
  EXPECT_EQ(mesh.trees, 3u);
  EXPECT_NEAR(peak(rectangularMulticast, mesh), 1125 * kMega, kMega);
  EXPECT_NEAR(rectangularMulticast(mesh, 0).start_up_s, (5 * 0.4 + 3 * 0.8) * kMicro, 1e-12);
  EXPECT_EQ(torus("bgp", "8x8mx8m").trees, 4u);
  // Dimensions of one node are none; of two nodes each direction has a cable, or they share one.
  const LogPTorus line = torus("bgp", "1x8x1");
  EXPECT_EQ(line.dimensions, 1u);
  EXPECT_EQ(line.nodes, 8);
  EXPECT_EQ(torus("bgp", "2x4").trees, 4u);
  EXPECT_EQ(torus("smpi", "2x4").trees, 3u);
  EXPECT_EQ(rectangularMulticast(torus("bgp", "1x1"), kMega).seconds(), 0);
  EXPECT_EQ(binomialReduction(torus("bgp", "1"), kMega).seconds(), 0);
  // The slowest link counts, and no more links than a node has ports.
  EXPECT_NEAR(1 / torus("gemini", "8x8x8").gap, partition("gemini", "8").linkBandwidth(0) / 2, 1);
  const LogPTorus fugaku = torus("fugaku", "");
  EXPECT_EQ(fugaku.trees, 10u);
  EXPECT_EQ(fugaku.links, 6u);
  // A start-up that keeps no core busy is a part of L.
  EXPECT_NEAR(torus("generic", "4").latency, 1 * kMicro, 1e-12);
}

constexpr double kMegabyte = 1e6;
// Of Blue Gene/P: 375 MB/s a link; o + L of a message; hops.
constexpr double kWire = kMegabyte / 375e6;

model::Machine ring(const char* shape) {
  return partition("bgp", shape);
}

double startUp(const model::Machine& machine, int hops) {
  return machine.overhead + machine.alpha + machine.latency + hops * machine.dimensions[0].latency;
}

TEST(PlacedTree, OneRankHasItAlready) {
  EXPECT_EQ(placedBinomialMulticast(ring("8"), {Coordinates{0}}, kMegabyte), 0);
}

TEST(PlacedTree, GoesTheShorterWayRound) {
  const model::Machine machine = ring("8");
  EXPECT_NEAR(placedBinomialMulticast(machine, {Coordinates{1}, Coordinates{6}}, kMegabyte),
              startUp(machine, 3) + kWire, 1e-12);
}

TEST(PlacedTree, HasAStageForEachDoublingWhereNoLinkIsShared) {
  const model::Machine machine = ring("8");
  llvm::SmallVector<Coordinates, 8> places;
  for (std::int32_t x = 0; x < 8; ++x)
    places.push_back({x});
  EXPECT_NEAR(placedBinomialMulticast(machine, places, kMegabyte),
              startUp(machine, 4) + startUp(machine, 2) + startUp(machine, 1) + 3 * kWire, 1e-12);
  // Six ranks: 0 to 4, then 0 to 2 and 4 to 5; last 0 to 1 and 2 to 3.
  places.truncate(6);
  EXPECT_NEAR(placedBinomialMulticast(machine, places, kMegabyte),
              startUp(machine, 4) + startUp(machine, 2) + startUp(machine, 1) + 3 * kWire, 1e-12);
}

// 0 to 2 and then, from places 0 and 3, two messages over the link from 3 to 4 at once.
TEST(PlacedTree, SharesLinks) {
  const model::Machine machine = ring("16");
  const Coordinates places[] = {{0}, {4}, {3}, {5}};
  const double first = startUp(machine, 3) + kWire;
  // Rank 0's message to rank 1 goes 0..4, rank 2's to rank 3 goes 3..5: half of the link each.
  // The one that starts earlier, over fewer hops, has the link alone for as long.
  const double head_start = startUp(machine, 4) - startUp(machine, 2);
  const double slower = startUp(machine, 4) + 2 * kWire - head_start;
  EXPECT_NEAR(placedBinomialMulticast(machine, places, kMegabyte), first + slower, 1e-9);
}

TEST(PlacedTree, RanksOfOnePlaceTakeItsMemory) {
  const model::Machine machine = ring("8");
  const Coordinates both[] = {{3}, {3}};
  EXPECT_NEAR(placedBinomialMulticast(machine, both, kMegabyte),
              startUp(machine, 0) + 2 * kMegabyte / machine.memory_bandwidth, 1e-12);
}

// torc's own tree in one chunk is the same on a ring of four, on which no link is shared.
TEST(PlacedTree, AgreesWithTheSimulator) {
  const model::Machine machine = ring("4");
  const compiler::CollectiveSpec spec{Collective::kBroadcast,
                                      llvm::cantFail(model::topologyOf(machine))};
  compiler::ChoiceLimits limits;
  limits.algorithm = llvm::cantFail(compiler::findAlgorithm("binomial"));
  limits.chunks = 1;
  const double simulated =
      llvm::cantFail(compiler::choose(spec, machine, kMegabyte, limits)).best().predicted_s;
  const Coordinates places[] = {{0}, {1}, {2}, {3}};
  EXPECT_NEAR(placedBinomialMulticast(machine, places, kMegabyte) / simulated, 1, 0.01);
}

// Each of eight sends to the third above: every link carries three, those up the ring.
TEST(PlacedRanks, MessagesOfAShiftShareLinks) {
  EXPECT_EQ(mostMessagesOnALink(ring("8"), {3, 4, 5, 6, 7, 0, 1, 2}), 3);
}

}  // namespace
}  // namespace torc::studies
