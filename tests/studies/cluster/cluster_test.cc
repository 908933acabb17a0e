// Descriptions of clusters: presets name the source of every number, faults are reported. Messages
// of pairs of cores by hand, and against the measurements of the interfaces' makers. Claims of
// "Scaling Alltoall Collective on Multi-core Systems" that the model confirms, with nodes behind
// one switch unless stated otherwise; the others are in docs/research/papers/alltoall-multicore.md.
// Fat trees: patterns with and without links of their own, against counting by hand and against
// measurements on a Clos network of 512 nodes.
#include "studies/cluster/cluster.h"

#include <algorithm>
#include <numeric>
#include <random>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "studies/cluster/alltoall.h"
#include "studies/cluster/fat_tree.h"
#include "studies/cluster/pairs.h"
#include "studies/cluster/posted_receives.h"
#include "tests/studies/cluster/cluster_testing.h"

namespace torc::studies {
namespace {

TEST(ClusterPresets, NameASourceForEveryNumber) {
  for (const llvm::StringRef name : clusterPresets()) {
    const Cluster cluster = preset(name);
    EXPECT_EQ(cluster.name, name);
    EXPECT_FALSE(cluster.description.empty()) << name.str();
    ASSERT_EQ(cluster.sources.size(), clusterKeys().size()) << name.str();
  }
}

std::string errorOf(llvm::StringRef json) {
  llvm::Expected<Cluster> cluster = parseCluster(json, "mine.json");
  return cluster ? "" : toString(cluster.takeError());
}

TEST(ClusterFile, FaultsNameFileKeyAndValue) {
  EXPECT_EQ(errorOf("[]"), "mine.json: /: expected an object, not []");
  EXPECT_EQ(errorOf("{}"), "mine.json: /: missing key 'name'");
  EXPECT_EQ(errorOf(R"({"name": "a"})"), "mine.json: /: missing key 'nodes'");
  EXPECT_EQ(errorOf(R"({"gamma": 1})"), "mine.json: /: unknown key 'gamma'");
  EXPECT_NE(errorOf("{").find("mine.json:1:"), std::string::npos);
}

TEST(Pairs, OnePushedMessageByHand) {
  // 1 s of the core, 1 s to push 100 bytes; 110 bytes at 10 bytes/s; 3 + 2 s on the way; 4 s of the
  // receiver.
  const Cluster cluster = unitCluster();
  EXPECT_DOUBLE_EQ(pairLatency(cluster, 1, 100), 1 + 1 + 11 + 5 + 4);
  // Two at the same time take 22 s each way. They wait for each other on the wire once, and then
  // take turns: half of its 11 s are idle.
  EXPECT_DOUBLE_EQ(pairLatency(cluster, 2, 100), 1 + 1 + 11 + 5 + 4 + 11.0 / 40);
}

TEST(Pairs, OneFetchedMessageByHand) {
  // The NIC fetches the data while it sends; its engine works 0.5 s at either end.
  Cluster cluster = unitCluster();
  cluster.pio_limit = 0;
  cluster.message = 0.5;
  EXPECT_DOUBLE_EQ(pairLatency(cluster, 1, 100), 1 + 0.5 + 11 + 5 + 0.5 + 4);
  // Buffered: copied at 50 bytes/s at either end.
  cluster.buffered = 100;
  EXPECT_DOUBLE_EQ(pairLatency(cluster, 1, 100), 1 + 2 + 0.5 + 11 + 5 + 0.5 + 4 + 2);
}

TEST(Pairs, ARendezvousCostsAWayThereAndBack) {
  Cluster cluster = unitCluster();
  const double eager = pairLatency(cluster, 1, 100);
  cluster.rendezvous = 99;
  // A request and a reply of a header's second each, 5 s on their way, 1 s of their senders and 4
  // of their receivers.
  EXPECT_DOUBLE_EQ(pairLatency(cluster, 1, 100), eager + 2 * (1 + 1 + 5 + 4));
}

TEST(Pairs, ManyPacketsAreOnTheirWayTogether) {
  // 400 bytes are four packets: the wire begins with the first, and the switch passes it on.
  Cluster cluster = unitCluster();
  cluster.payload = 100;
  EXPECT_DOUBLE_EQ(pairLatency(cluster, 1, 400), 1 + 1 + 44 + 5 + 4);
}

TEST(Pairs, CoresThatPushAreAsManyTimesAsFastUntilTheWireIsFull) {
  Cluster cluster = unitCluster();
  cluster.link_bandwidth = 400;  // 100 bytes take 0.275 s; a core 2 s
  cluster.receive_overhead = 0;
  const double one = pairRate(cluster, 1, 100, /*both_directions=*/false).messages;
  EXPECT_NEAR(one, 0.5, 0.05);
  EXPECT_NEAR(pairRate(cluster, 4, 100, false).messages, 4 * one, 0.02);
  EXPECT_NEAR(pairRate(cluster, 16, 100, false).messages, 1 / 0.275, 0.3);
}

TEST(Pairs, AnEngineServesConnectionsInTurn) {
  Cluster cluster = unitCluster();
  cluster.pio_limit = 0;
  cluster.link_bandwidth = 1e6;
  cluster.send_overhead = cluster.receive_overhead = 0.5;
  cluster.message = 2;
  const double one = pairRate(cluster, 1, 100, false).messages;
  EXPECT_NEAR(pairRate(cluster, 2, 100, false).messages / one, 1, 0.15);
  cluster.connection = 6;
  EXPECT_LT(pairRate(cluster, 2, 100, false).messages, 0.31 * one);
}

/// Four processes a node, as measured by the makers: "InfiniPath User Guide", IB6054601-00 D, A.3.
TEST(InfiniPath, HasTheMessageRatesThatItsMakersPrint) {
  const Cluster cluster = preset("infinipath");
  const struct {
    double bytes, megabytes_per_second;
  } rows[] = {{8, 66.73},     {128, 569.67},  {512, 839.45},
              {1024, 913.43}, {2048, 954.48}, {65536, 949.07}};
  for (const auto& [bytes, expected] : rows) {
    const double found = pairRate(cluster, 4, bytes, false).bytes * 1e-6;
    EXPECT_NEAR(found / expected, 1, 0.03) << bytes << " bytes";
  }
}

/// One-way latencies of the publications that the presets name; a switch of three chips is 0.4 us
/// slower than the one of one chip that was measured.
TEST(ClusterPresets, HaveTheLatenciesOfTheirSources) {
  EXPECT_NEAR(pairLatency(preset("infinihost"), 1, 1) * 1e6, 4.1 + 0.4, 0.1);
  EXPECT_NEAR(pairLatency(preset("connectx"), 1, 1) * 1e6, 1.5, 0.1);
  // Without PCI Express and switch: 1.26 us.
  EXPECT_NEAR(pairLatency(preset("infinipath"), 1, 1) * 1e6, 1.26 + 0.3 + 0.6, 0.1);
}

/// "A factor of 10" for small messages of all cores: Sur et al., HotI 2007, abstract.
TEST(ClusterPresets, ConnectXPassesTenTimesAsManySmallMessagesAsInfiniHost) {
  const double connectx = pairRate(preset("connectx"), 8, 64, true).messages;
  EXPECT_NEAR(connectx / pairRate(preset("infinihost"), 8, 64, true).messages, 10, 1.5);
}

using enum ClusterStrategy;

double seconds(const char* cluster, std::uint32_t nodes, ClusterStrategy strategy, double bytes,
               std::optional<ExchangeKind> kind = {}, std::uint32_t cores = 8, bool tree = false) {
  const ClusterRun run = simulateAlltoall(
      preset(cluster), {nodes, cores, bytes, strategy, kind, 1, 1, /*one_switch=*/!tree});
  EXPECT_TRUE(run.completed);
  return run.seconds;
}

/// Bandwidth both ways of four pairs over that of one.
double byFourPairs(const char* cluster, double bytes) {
  return pairRate(preset(cluster), 4, bytes, true).bytes /
         pairRate(preset(cluster), 1, bytes, true).bytes;
}

TEST(MulticoreClaims, MoreCoresTakeLongerForTheSameData) {  // Figure 1
  double before = 0;
  for (const std::uint32_t cores : {1u, 2u, 4u, 8u}) {
    const double now =
        seconds("infinipath", 64, kOriginal, 1024.0 / cores / cores, ExchangeKind::kDirect, cores);
    EXPECT_GT(now, before) << cores;
    before = now;
  }
}

TEST(MulticoreClaims, PairsPassMoreOnInfiniPathAndConnectXAndLessOnInfiniHost) {  // Figures 2 to 4
  EXPECT_GT(byFourPairs("infinipath", 64), 2);
  EXPECT_GT(byFourPairs("connectx", 64), 2);
  for (const double bytes : {8.0, 1024.0, 65536.0, 1048576.0})
    EXPECT_LT(byFourPairs("infinihost", bytes), 0.9) << bytes;
}

TEST(MulticoreClaims, DistributionCopiesLongerOnlyWhereCoresPush) {  // Figures 5, 8 and 11
  for (const double bytes : {512.0, 1024.0, 2048.0}) {
    const double aggregated = seconds("infinipath", 64, kAggregated, bytes);
    EXPECT_LT(aggregated, 0.9 * seconds("infinipath", 64, kDistributed, bytes)) << bytes;
    EXPECT_NEAR(seconds("infinihost", 64, kAggregated, bytes) /
                    seconds("infinihost", 64, kDistributed, bytes),
                1, 1e-9);
  }
  // Where Bruck's copies what has come anyway.
  EXPECT_NEAR(
      seconds("infinipath", 64, kAggregated, 16) / seconds("infinipath", 64, kDistributed, 16), 1,
      1e-9);
}

TEST(MulticoreClaims, AggregationIsTheFastestOnInfiniPathForMediumBlocks) {  // Figures 7 and 9
  for (const double bytes : {64.0, 128.0, 256.0, 512.0, 1024.0}) {
    const double aggregated = seconds("infinipath", 64, kAggregated, bytes);
    EXPECT_LT(aggregated, seconds("infinipath", 64, kOriginal, bytes)) << bytes;
    EXPECT_LT(aggregated, seconds("infinipath", 64, kLeader, bytes)) << bytes;
  }
  EXPECT_LT(seconds("infinipath", 64, kLeader, 1), seconds("infinipath", 64, kOriginal, 1));
  double gain = -1;
  for (const std::uint32_t nodes : {2u, 4u, 8u, 16u, 32u, 64u}) {
    const double now = 1 - seconds("infinipath", nodes, kAggregated, 512) /
                               seconds("infinipath", nodes, kOriginal, 512);
    EXPECT_GT(now, gain) << nodes;
    gain = now;
  }
}

TEST(MulticoreClaims, TheLeaderIsBestOnInfiniHostAndNotOnConnectX) {  // Figures 10 and 12
  for (const double bytes : {1.0, 256.0, 1024.0, 4096.0}) {
    const double leader = seconds("infinihost", 64, kLeader, bytes);
    EXPECT_LT(leader, seconds("infinihost", 64, kOriginal, bytes)) << bytes;
    EXPECT_LT(leader, seconds("infinihost", 64, kAggregated, bytes)) << bytes;
  }
  for (const double bytes : {16.0, 64.0, 256.0, 2048.0, 4096.0}) {
    const double leader = seconds("connectx", 4, kLeader, bytes);
    EXPECT_GT(leader, seconds("connectx", 4, kAggregated, bytes)) << bytes;
    EXPECT_GT(leader, seconds("connectx", 4, kDistributed, bytes)) << bytes;
  }
}

TEST(MulticoreClaims, BehindAFatTreeDirectIsNotFreeOfCongestion) {  // Section 2.4
  const auto behindTree = [](ClusterStrategy strategy, double bytes, ExchangeKind kind) {
    return seconds("infinipath", 64, strategy, bytes, kind, 8, true);
  };
  for (const double bytes : {512.0, 2048.0}) {
    const double direct = behindTree(kOriginal, bytes, ExchangeKind::kDirect);
    EXPECT_GT(direct, 1.5 * seconds("infinipath", 64, kOriginal, bytes, ExchangeKind::kDirect));
    EXPECT_LT(behindTree(kOriginal, bytes, ExchangeKind::kPairwise), direct) << bytes;
    EXPECT_LT(behindTree(kAggregated, bytes, ExchangeKind::kDirect), direct) << bytes;
  }
}

/// Every node sends messages of `bytes`, one after another, to a partner of its own.
class Partners : public ClusterProgram {
 public:
  Partners(std::vector<std::uint32_t> to, double bytes) : to_(std::move(to)), bytes_(bytes) {}

  std::uint32_t nodes() const override { return static_cast<std::uint32_t>(to_.size()); }
  std::uint32_t coresPerNode() const override { return 1; }
  std::uint64_t rounds(std::uint32_t) const override { return 20; }
  Round round(std::uint32_t, std::uint64_t) const override {
    Round round;
    round.sends = round.receives = 1;
    return round;
  }
  Message message(std::uint32_t core, std::uint64_t, std::uint64_t) const override {
    return {to_[core], true, bytes_, 1 + to_[core], 1 + core};
  }

 private:
  const std::vector<std::uint32_t> to_;
  const double bytes_;
};

/// A cluster whose links alone take time: a byte a second, packets of 100 bytes.
Cluster linksAlone(std::uint32_t leaf_nodes, std::uint32_t uplinks) {
  Cluster cluster = unitCluster();
  cluster.send_overhead = cluster.receive_overhead = cluster.latency = cluster.switch_latency = 0;
  cluster.header = 0;
  cluster.payload = 100;
  cluster.link_bandwidth = 1;
  cluster.pio_limit = 0;
  cluster.leaf_nodes = leaf_nodes;
  cluster.uplinks = uplinks;
  cluster.switch_buffer = 400;
  return cluster;
}

double secondsOf(const Cluster& cluster, const std::vector<std::uint32_t>& to, double bytes) {
  const ClusterRun run = simulateCluster(cluster, Partners(to, bytes));
  EXPECT_TRUE(run.completed);
  return run.seconds;
}

std::vector<std::uint32_t> shifted(std::uint32_t nodes, std::uint32_t by) {
  std::vector<std::uint32_t> to(nodes);
  for (std::uint32_t node = 0; node < nodes; ++node)
    to[node] = (node + by) % nodes;
  return to;
}

TEST(FatTree, AShiftHasLinksOfItsOwnWhereLeavesDivideTheNodes) {
  const double alone = 20 * 1000;
  for (const std::uint32_t by : {1u, 4u, 5u, 13u})
    EXPECT_DOUBLE_EQ(secondsOf(linksAlone(4, 4), shifted(16, by), 1000), alone) << by;
  // Behind the last of 14 nodes comes the first: ports of their leaves come twice.
  EXPECT_GT(secondsOf(linksAlone(4, 4), shifted(14, 5), 1000), 1.5 * alone);
  // Two links for four nodes.
  EXPECT_NEAR(secondsOf(linksAlone(4, 2), shifted(16, 5), 1000), 2 * alone, 0.02 * alone);
  // Nodes drawn to their places do not go by shifts.
  Cluster drawn = linksAlone(4, 4);
  drawn.placement = 1;
  EXPECT_GT(secondsOf(drawn, shifted(16, 5), 1000), 1.5 * alone);
}

RC_GTEST_PROP(FatTree, BringsEveryMessageAndIsNoFasterThanOneSwitch, ()) {
  const auto nodes = *rc::gen::inRange(2u, 20u);
  std::vector<std::uint32_t> to(nodes);
  std::iota(to.begin(), to.end(), 0u);
  std::mt19937_64 random(*rc::gen::arbitrary<std::uint32_t>());
  for (std::uint32_t left = nodes; left > 1; --left)
    std::swap(to[left - 1], to[random() % left]);
  Cluster cluster = linksAlone(*rc::gen::inRange(1u, 8u), *rc::gen::inRange(1u, 8u));
  cluster.placement = *rc::gen::inRange(0u, 3u);
  cluster.switch_buffer = *rc::gen::element(0, 100, 250, 10000);
  const double bytes = *rc::gen::element(0, 1, 100, 101, 1000);
  const double tree = secondsOf(cluster, to, bytes);
  RC_ASSERT(tree >= 20 * bytes * (1 - 1e-9));
  const double links = 3.0 * nodes;  // no packet waits for more than all others on all links
  RC_ASSERT(tree <= 20 * bytes * links + 1e-6);
}

TEST(FatTree, RandomPairsOf512NodesHaveHalfOfTheirLinks) {
  // As "Adaptive Routing Strategies for Modern High Performance Networks" (Geoffray and Hoefler,
  // Hot Interconnects 2008) measured a non-blocking network of 32-port crossbars: "as low as 38 %"
  // where it is statically routed. Its sources choose the ways, so that links down to leaves are
  // shared, too; here links up are alone.
  constexpr std::uint32_t kNodes = 512, kLeaf = 16;
  std::mt19937_64 random(1);
  std::vector<std::uint32_t> nodes(kNodes), to(kNodes);
  std::iota(nodes.begin(), nodes.end(), 0u);
  for (std::uint32_t left = kNodes; left > 1; --left)
    std::swap(nodes[left - 1], nodes[random() % left]);
  for (std::uint32_t i = 0; i < kNodes; i += 2) {
    to[nodes[i]] = nodes[i + 1];
    to[nodes[i + 1]] = nodes[i];
  }
  // By hand: a pair has the share of the busier of its two ways.
  std::vector<double> users(kNodes), shares(kNodes);
  const auto link = [&](std::uint32_t from) { return from / kLeaf * kLeaf + to[from] % kLeaf; };
  const auto isNear = [&](std::uint32_t from) { return from / kLeaf == to[from] / kLeaf; };
  for (std::uint32_t node = 0; node < kNodes; ++node)
    users[link(node)] += isNear(node) ? 0 : 1;
  for (std::uint32_t node = 0; node < kNodes; ++node)
    shares[node] = isNear(node) ? 1 : 1 / users[link(node)];
  constexpr double kBytes = 1000;
  const ClusterRun run = simulateCluster(linksAlone(kLeaf, kLeaf), Partners(to, kBytes));
  double found = 0, counted = 0;
  for (std::uint32_t node = 0; node < kNodes; ++node) {
    found += 20 * kBytes / run.cores[node] / kNodes;
    counted += std::min(shares[node], shares[to[node]]) / kNodes;
  }
  EXPECT_NEAR(found, counted, 0.1);
  EXPECT_GT(found, 0.38);
  EXPECT_LT(found, 0.6);
}

TEST(PostedReceives, CountWhatStandsBefore) {
  PostedReceives queue;
  queue.arriveEarly(7, 2, 10);
  queue.arriveEarly(8, 0, 20);
  // Receives 0 and 1 look at both in vain, 2 finds the first, 3 looks at the other.
  const PostedReceives::Found found = queue.post(7, 4);
  EXPECT_EQ(found.messages, 1u);
  EXPECT_EQ(found.bytes, 10);
  EXPECT_EQ(found.searched, 5u);
  EXPECT_EQ(queue.take(3), 2u);
  EXPECT_EQ(queue.take(0), 0u);
  EXPECT_EQ(queue.take(1), 0u);
  EXPECT_EQ(queue.post(8, 1).messages, 1u);
}

}  // namespace
}  // namespace torc::studies
