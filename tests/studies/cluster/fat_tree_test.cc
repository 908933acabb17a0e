// Fat trees: which patterns have links of their own and which do not, against counting by hand and
// against what was measured on a Clos network of 512 nodes.
#include "studies/cluster/fat_tree.h"

#include <algorithm>
#include <numeric>
#include <random>

#include <rapidcheck/gtest.h>

#include "studies/cluster/alltoall.h"
#include "studies/cluster/posted_receives.h"
#include "tests/studies/cluster/cluster_testing.h"

namespace torc::studies {
namespace {

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
