// Descriptions of clusters: presets name the source of every number, faults are told. Messages of
// pairs of cores by hand, and against what the makers of the interfaces measured.
#include "studies/cluster/cluster.h"

#include <gtest/gtest.h>

#include "studies/cluster/pairs.h"
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

}  // namespace
}  // namespace torc::studies
