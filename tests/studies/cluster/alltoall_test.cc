// All-to-alls on clusters: every block reaches its destination, one node stands for all, no run is
// faster than wire, bus and cores allow; messages between nodes match torc's own schedules.
#include "studies/cluster/alltoall.h"

#include <algorithm>
#include <map>
#include <set>

#include <rapidcheck/gtest.h>

#include "schedules/expansion/expand.h"
#include "studies/cluster/schedule_program.h"
#include "tests/model/model_testing.h"
#include "tests/studies/cluster/cluster_testing.h"

namespace torc::studies {
namespace {

struct Case {
  Cluster cluster;
  ClusterAlltoall alltoall;
};

Case drawCase(std::uint32_t max_nodes) {
  const auto name = *rc::gen::element(std::string("infinipath"), std::string("infinihost"),
                                      std::string("connectx"));
  Case drawn{preset(name), {}};
  ClusterAlltoall& of = drawn.alltoall;
  of.nodes = *rc::gen::inRange(1u, max_nodes + 1);
  of.cores = *rc::gen::inRange(1u, 7u);
  of.bytes = *rc::gen::element(0, 1, 13, 200, 512, 3000, 20000, 100000);
  of.calls = *rc::gen::inRange(1u, 4u);
  of.leaders = of.cores % 2 == 0 ? *rc::gen::element(1u, 2u) : 1;
  of.strategy = *rc::gen::elementOf(
      std::vector<ClusterStrategy>(std::begin(kClusterStrategies), std::end(kClusterStrategies)));
  if (*rc::gen::arbitrary<bool>()) {
    of.kind =
        *rc::gen::element(ExchangeKind::kBruck, ExchangeKind::kDirect, ExchangeKind::kPairwise);
  }
  return drawn;
}

/// Blocks, each its source and destination, that ranks hold.
using Blocks = std::set<std::pair<std::uint64_t, std::uint64_t>>;

/// What a message takes from its sender's blocks, by the definition of each algorithm.
Blocks taken(const Exchange& exchange, const Blocks& held, std::uint64_t from, std::uint64_t to,
             std::uint64_t round, std::uint64_t ranks) {
  Blocks blocks;
  for (const auto& block : held) {
    const std::uint64_t distance = (block.second + ranks - from) % ranks;
    const bool goes =
        exchange.kind() == ExchangeKind::kBruck ? (distance >> round & 1) != 0 : block.second == to;
    if (goes) blocks.insert(block);
  }
  return blocks;
}

RC_GTEST_PROP(ClusterExchange, BringsEveryBlockToItsDestination, ()) {
  const auto nodes = *rc::gen::inRange(1u, 10u), cores = *rc::gen::inRange(1u, 6u);
  const auto kind =
      *rc::gen::element(ExchangeKind::kBruck, ExchangeKind::kDirect, ExchangeKind::kPairwise);
  const Cluster cluster = unitCluster();
  const Exchange exchange(cluster, kind, nodes, cores, 1);
  const std::uint64_t ranks = std::uint64_t{nodes} * cores;
  std::vector<Blocks> held(ranks);
  for (std::uint64_t from = 0; from < ranks; ++from) {
    for (std::uint64_t to = 0; to < ranks; ++to)
      held[from].emplace(from, to);
  }
  for (std::uint64_t round = 0; round < exchange.rounds(); ++round) {
    std::vector<Blocks> arriving(ranks);
    std::vector<std::uint64_t> messages(ranks, 0);
    for (std::uint64_t from = 0; from < ranks; ++from) {
      for (std::uint64_t send = 0; send < exchange.round(round).sends; ++send) {
        const Exchange::Way way =
            exchange.way(static_cast<std::uint32_t>(from % cores), round, send);
        const std::uint64_t node = from / cores;
        const std::uint64_t there = exchange.isOfBits() ? node ^ way.out : (node + way.out) % nodes;
        const std::uint64_t back = exchange.isOfBits() ? there ^ way.in : (there + way.in) % nodes;
        RC_ASSERT(back == node);
        const std::uint64_t to = there * cores + way.peer;
        RC_ASSERT(to != from);
        const Blocks blocks = taken(exchange, held[from], from, to, round, ranks);
        RC_ASSERT(static_cast<double>(blocks.size()) == way.blocks);
        for (const auto& block : blocks)
          held[from].erase(block);
        arriving[to].insert(blocks.begin(), blocks.end());
        ++messages[to];
      }
    }
    for (std::uint64_t rank = 0; rank < ranks; ++rank) {
      RC_ASSERT(messages[rank] == exchange.round(round).receives);
      held[rank].insert(arriving[rank].begin(), arriving[rank].end());
    }
  }
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    RC_ASSERT(held[rank].size() == ranks);
    for (const auto& block : held[rank])
      RC_ASSERT(block.second == rank);
  }
}

RC_GTEST_PROP(ClusterAlltoall, SendsNoByteTooFewBetweenNodes, ()) {
  const Case drawn = drawCase(16);
  const ClusterAlltoall& of = drawn.alltoall;
  const ClusterRun run = simulateAlltoall(drawn.cluster, of);
  RC_ASSERT(run.completed);
  const double leaving = (of.nodes - 1.0) * of.cores * of.cores * of.bytes;
  const bool direct = exchangeOf(drawn.cluster, of).kind() != ExchangeKind::kBruck;
  if (direct) RC_ASSERT(run.bytes <= leaving * (1 + 1e-9));
  RC_ASSERT(run.bytes >= leaving * (1 - 1e-9));
  // Cores copy all that they send or receive where they share it.
  const AlltoallCopies copies = copiesOf(drawn.cluster, of);
  const double all = of.bytes * of.nodes * of.cores;
  const bool leader = of.strategy == ClusterStrategy::kLeader;
  const bool in = leader || of.strategy == ClusterStrategy::kAggregated;
  const bool out = leader || of.strategy == ClusterStrategy::kDistributed;
  RC_ASSERT(copies.in.bytes == (in ? all : 0.0));
  RC_ASSERT(copies.out.bytes == (out ? all : 0.0));
}

RC_GTEST_PROP(ClusterAlltoall, TakesNoLessThanWireBusAndCoresNeed, ()) {
  const Case drawn = drawCase(16);
  const Cluster& cluster = drawn.cluster;
  const ClusterRun run = simulateAlltoall(cluster, drawn.alltoall);
  RC_ASSERT(run.seconds >= run.bytes / cluster.link_bandwidth * (1 - 1e-9));
  RC_ASSERT(run.seconds >= 2 * run.bytes / cluster.bus_total * (1 - 1e-9));
  const double a_core = static_cast<double>(run.messages) / drawn.alltoall.cores;
  RC_ASSERT(run.seconds >=
            a_core * (cluster.send_overhead + cluster.receive_overhead) * (1 - 1e-9));
}

RC_GTEST_PROP(ClusterAlltoall, OneNodeStandsForAll, ()) {
  const Case drawn = drawCase(9);
  const ClusterAlltoall& of = drawn.alltoall;
  const ClusterRun one = simulateAlltoall(drawn.cluster, of);
  const ClusterRun all =
      simulateCluster(drawn.cluster, *alltoallProgram(drawn.cluster, of, /*all_nodes=*/true));
  RC_ASSERT(all.completed);
  RC_ASSERT(all.messages == one.messages * of.nodes * of.calls);
  RC_ASSERT(std::abs(all.bytes - one.bytes * of.nodes * of.calls) <= 1e-9 * all.bytes);
  RC_ASSERT(std::abs(all.seconds - one.seconds * of.calls) <= 1e-9 * all.seconds);
}

TEST(ClusterAlltoall, ALeaderByHand) {
  // Two nodes of two cores, 25 bytes a block. Each core copies 100 bytes at 50 bytes/s, 2 s; a flag
  // takes 0.5 s. Leaders copy their own block of 100 bytes, 2 s, and exchange these, 22 s as in
  // cluster_test.cc; a flag; each core copies 100 bytes that the NIC wrote, both at 50 bytes/s, 4
  // s.
  Cluster cluster = unitCluster();
  cluster.flag = 0.5;
  const ClusterAlltoall of{2, 2, 25, ClusterStrategy::kLeader, ExchangeKind::kDirect};
  const ClusterRun run = simulateAlltoall(cluster, of);
  EXPECT_DOUBLE_EQ(run.seconds, 2 + 0.5 + 2 + 22 + 0.5 + 4);
  EXPECT_EQ(run.messages, 1u);
  EXPECT_EQ(run.bytes, 100);
}

TEST(ClusterAlltoall, TwoLeadersSendTwiceAsManyMessagesOfAQuarter) {
  const Cluster cluster = preset("infinipath");
  ClusterAlltoall of{8, 4, 100, ClusterStrategy::kLeader, ExchangeKind::kDirect};
  const ClusterRun one = simulateAlltoall(cluster, of);
  of.leaders = 2;
  const ClusterRun two = simulateAlltoall(cluster, of);
  EXPECT_EQ(one.messages, 7u);
  EXPECT_EQ(two.messages, 2 * 2 * 7u);
  EXPECT_EQ(exchangeOf(cluster, of).blockBytes(), 100.0 * 4 * 4 / 4);
  EXPECT_EQ(one.bytes, two.bytes);
}

TEST(ClusterAlltoall, MessagesInsideANodeTakeNoWire) {
  // One node of two cores: own block 0.5 s, 25 bytes into shared memory 0.5 s and out of it.
  Cluster cluster = unitCluster();
  cluster.shared_overhead = 3;
  const ClusterAlltoall of{1, 2, 25, ClusterStrategy::kOriginal, ExchangeKind::kDirect};
  const ClusterRun run = simulateAlltoall(cluster, of);
  EXPECT_DOUBLE_EQ(run.seconds, 0.5 + 3 + 0.5 + 3 + 0.5);
  EXPECT_EQ(run.messages, 0u);
}

/// Messages between nodes: from, to and bytes. Core c of node n is n * cores + c.
using Messages = std::multiset<std::tuple<std::uint32_t, std::uint32_t, double>>;

Messages modelled(const Cluster& cluster, const ClusterAlltoall& of) {
  const auto program = alltoallProgram(cluster, of, /*all_nodes=*/true);
  Messages messages;
  for (std::uint32_t core = 0; core < of.nodes * of.cores; ++core) {
    for (std::uint64_t round = 0; round < program->rounds(core); ++round) {
      for (std::uint64_t send = 0; send < program->round(core, round).sends; ++send) {
        const Message message = program->message(core, round, send);
        if (message.network) messages.emplace(core, message.to, message.bytes);
      }
    }
  }
  return messages;
}

Messages compiledMessages(const char* algorithm, const ClusterAlltoall& of, const char* shape) {
  const Schedule schedule = model::compiled(Collective::kAlltoall, shape, {}, algorithm);
  Messages messages;
  Counts counts;
  counts.count = static_cast<std::uint64_t>(of.bytes);
  // Among torc's ranks nodes vary fastest.
  const auto coreOf = [&](std::uint32_t rank) {
    return rank % of.nodes * of.cores + rank / of.nodes;
  };
  for (std::uint32_t rank = 0; rank < of.nodes * of.cores; ++rank) {
    const StatusOr<FlatProgram> program =
        expand(schedule.view(), static_cast<std::int32_t>(rank), counts);
    EXPECT_TRUE(program.ok());
    if (!program.ok()) return {};
    for (const FlatOperation& operation : program->operations) {
      if (operation.kind != OperationKind::kSend) continue;
      const std::uint32_t from = coreOf(rank);
      const std::uint32_t to = coreOf(static_cast<std::uint32_t>(operation.peer));
      if (to / of.cores == from / of.cores) continue;
      messages.emplace(from, to, static_cast<double>(operation.a.elements));
    }
  }
  return messages;
}

TEST(ClusterAlltoall, HasTheMessagesOfTorcsSchedules) {
  const std::pair<const char*, ClusterStrategy> rows[] = {
      {"direct", ClusterStrategy::kOriginal},
      {"leader", ClusterStrategy::kLeader},
      {"aggregated", ClusterStrategy::kAggregated},
      {"distributed", ClusterStrategy::kDistributed}};
  const Cluster cluster = unitCluster();
  for (const auto& [algorithm, strategy] : rows) {
    const ClusterAlltoall of{5, 3, 7, strategy, ExchangeKind::kDirect};
    const Messages messages = compiledMessages(algorithm, of, "5+3");
    EXPECT_FALSE(messages.empty()) << algorithm;
    EXPECT_EQ(modelled(cluster, of), messages) << algorithm;
  }
}

RC_GTEST_PROP(ClusterSchedules, AreDoneInNoLessThanTheirMessagesTake, ()) {
  const auto algorithm = *rc::gen::element("direct", "rotated-rings", "rings", "two-phase",
                                           "virtual-mesh", "bruck", "aggregated", "leader");
  const auto shape = *rc::gen::element("5+3", "4+2", "3x2+2", "7", "4mx2", "1+4", "1");
  const auto bytes = *rc::gen::element(0, 1, 40, 3000, 100000);
  const Cluster cluster = preset(*rc::gen::element("infinipath", "infinihost", "connectx"));
  const Schedule schedule = model::compiled(Collective::kAlltoall, shape, {}, algorithm);
  llvm::Expected<std::unique_ptr<ClusterProgram>> program =
      scheduleProgram(cluster, schedule.view(), static_cast<std::uint64_t>(bytes));
  if (!program) RC_FAIL(toString(program.takeError()));
  const ClusterRun run = simulateCluster(cluster, **program);
  RC_ASSERT(run.completed);
  const double nodes = (*program)->nodes(), cores = (*program)->coresPerNode();
  RC_ASSERT(run.bytes >= nodes * (nodes - 1) * cores * cores * bytes);
  RC_ASSERT(run.seconds >= run.bytes / nodes / cluster.link_bandwidth * (1 - 1e-9));
}

TEST(ClusterSchedules, TakeWhatTheModelOfTheSameMessagesTakes) {
  // One core a node: no copies but the own block's. In a fixed order, other than the library's,
  // every node receives one message at a time, too; in an order of each rank's own some wait for
  // each other.
  Cluster cluster = preset("infinipath");
  cluster.leaf_nodes = kMaxClusterNodes;
  compiler::PipelineOptions options;
  const Schedule shuffled = model::compiled(Collective::kAlltoall, "15", options, "direct");
  options.peers = PeerOrder::kFixed;
  const Schedule fixed = model::compiled(Collective::kAlltoall, "15", options, "direct");
  for (const std::uint64_t bytes : {8u, 500u, 30000u}) {
    const ClusterAlltoall of{15, 1, static_cast<double>(bytes), ClusterStrategy::kOriginal,
                             ExchangeKind::kDirect};
    const double expected = simulateAlltoall(cluster, of).seconds;
    const auto seconds = [&](const Schedule& schedule) {
      return simulateCluster(cluster, *cantFail(scheduleProgram(cluster, schedule.view(), bytes)))
          .seconds;
    };
    EXPECT_NEAR(seconds(fixed) / expected, 1, 1e-9) << bytes;
    EXPECT_GT(seconds(shuffled) / expected, 0.99) << bytes;
    EXPECT_LT(seconds(shuffled) / expected, 1.5) << bytes;
  }
}

TEST(ClusterSchedules, OthersAreRefused) {
  const Cluster cluster = unitCluster();
  const auto errorOf = [&](const Schedule& schedule) {
    auto program = scheduleProgram(cluster, schedule.view(), 1);
    return program ? "" : toString(program.takeError());
  };
  EXPECT_EQ(errorOf(model::compiled(Collective::kAllreduce, "4")),
            "a cluster plays schedules of alltoall, not of allreduce");
  EXPECT_EQ(errorOf(model::compiled(Collective::kAlltoall, "8192", {}, "direct")),
            "the ranks have more than 20000000 operations, some 16383 each");
}

}  // namespace
}  // namespace torc::studies
