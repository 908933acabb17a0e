// Builds the programs of the strategies.
#include "studies/cluster/alltoall.h"

namespace torc::studies {
namespace {

/// Ranks of the exchange between nodes.
std::uint32_t ranksPerNode(const ClusterAlltoall& of) {
  if (of.strategy == ClusterStrategy::kOriginal) return of.cores;
  return of.strategy == ClusterStrategy::kLeader ? of.leaders : 1;
}

/// Whether the nodes use more than one switch.
bool isTree(const Cluster& cluster, const ClusterAlltoall& of) {
  return !of.one_switch && of.nodes > cluster.leaf_nodes;
}

/// Rounds of a core: copy-in and a barrier if there is something to share; the exchange; a barrier
/// and copy-out.
class AlltoallProgram : public ClusterProgram {
 public:
  AlltoallProgram(const Cluster& cluster, const ClusterAlltoall& of, bool all_nodes)
      : of_(of),
        exchange_(exchangeOf(cluster, of)),
        copies_(copiesOf(cluster, of)),
        all_nodes_(all_nodes) {}

  std::uint32_t nodes() const override { return all_nodes_ ? of_.nodes : 1; }
  std::uint32_t coresPerNode() const override { return of_.cores; }

  std::uint64_t rounds(std::uint32_t core) const override { return of_.calls * roundsOfCall(core); }

  Round round(std::uint32_t core, std::uint64_t index) const override {
    index %= roundsOfCall(core);
    Round round;
    if (index < before()) {
      if (index == 0) round.before = copies_.in;
      round.barrier = index == 1;
      return round;
    }
    if (index < before() + exchangeRounds(core)) return exchange_.round(index - before());
    round.barrier = true;
    round.before = copies_.out;
    return round;
  }

  Message message(std::uint32_t core, std::uint64_t round, std::uint64_t send) const override {
    const std::uint32_t own = core % of_.cores, node = core / of_.cores;
    // If cores of one number exchange, each is its node's only rank.
    const std::uint32_t per_node = ranksPerNode(of_), apart = of_.cores / per_node;
    const Exchange::Way way =
        exchange_.way(per_node == 1 ? 0 : own / apart, round % roundsOfCall(core) - before(), send);
    const std::uint32_t peer = per_node == 1 ? own : way.peer * apart;
    std::uint32_t there = node;
    if (all_nodes_) there = exchange_.isOfBits() ? node ^ way.out : (node + way.out) % of_.nodes;
    return {there * of_.cores + peer,
            way.out != 0,
            way.blocks * exchange_.blockBytes(),
            connection(own, way.out, peer),
            connection(peer, way.in, own),
            send};
  }

 private:
  bool aggregates() const {
    return of_.strategy == ClusterStrategy::kLeader || of_.strategy == ClusterStrategy::kAggregated;
  }
  bool distributes() const {
    return of_.strategy == ClusterStrategy::kLeader ||
           of_.strategy == ClusterStrategy::kDistributed;
  }
  std::uint64_t roundsOfCall(std::uint32_t core) const {
    return before() + exchangeRounds(core) + (distributes() ? 1 : 0);
  }
  std::uint64_t before() const { return aggregates() ? 2 : 0; }
  std::uint64_t exchangeRounds(std::uint32_t core) const {
    const bool leads =
        of_.strategy != ClusterStrategy::kLeader || core % (of_.cores / of_.leaders) == 0;
    return leads ? exchange_.rounds() : 0;
  }
  std::uint64_t connection(std::uint32_t core, std::uint32_t node, std::uint32_t peer) const {
    return 1 + (std::uint64_t{node} * of_.cores + core) * of_.cores + peer;
  }

  const ClusterAlltoall of_;
  const Exchange exchange_;
  const AlltoallCopies copies_;
  const bool all_nodes_;
};

/// One copy of every core.
class Copies : public ClusterProgram {
 public:
  Copies(std::uint32_t cores, const Copy& copy) : cores_(cores), copy_(copy) {}

  std::uint32_t nodes() const override { return 1; }
  std::uint32_t coresPerNode() const override { return cores_; }
  std::uint64_t rounds(std::uint32_t) const override { return 1; }
  Round round(std::uint32_t, std::uint64_t) const override {
    Round round;
    round.before = copy_;
    return round;
  }
  Message message(std::uint32_t, std::uint64_t, std::uint64_t) const override { return {}; }

 private:
  const std::uint32_t cores_;
  const Copy copy_;
};

}  // namespace

const char* nameOf(ClusterStrategy strategy) {
  switch (strategy) {
    case ClusterStrategy::kOriginal:
      return "original";
    case ClusterStrategy::kLeader:
      return "leader";
    case ClusterStrategy::kAggregated:
      return "aggregated";
    case ClusterStrategy::kDistributed:
      break;
  }
  return "distributed";
}

std::optional<ClusterStrategy> clusterStrategyNamed(llvm::StringRef name) {
  for (const ClusterStrategy strategy : kClusterStrategies) {
    if (name == nameOf(strategy)) return strategy;
  }
  return std::nullopt;
}

Exchange exchangeOf(const Cluster& cluster, const ClusterAlltoall& of) {
  double block = of.bytes;  // bytes from one rank of the exchange to another
  if (of.strategy == ClusterStrategy::kLeader) {
    const double served = of.cores / of.leaders;
    block *= served * served;
  } else if (of.strategy != ClusterStrategy::kOriginal) {
    block *= of.cores;
  }
  const ExchangeKind kind = of.kind ? *of.kind : tunedExchange(cluster, block);
  return Exchange(cluster, kind, of.nodes, ranksPerNode(of), block);
}

AlltoallCopies copiesOf(const Cluster& cluster, const ClusterAlltoall& of) {
  AlltoallCopies copies;
  const double nodes = of.nodes, cores = of.cores;
  const double bytes = nodes * cores * of.bytes;
  const Exchange exchange = exchangeOf(cluster, of);
  const bool exceeds = exchange.exceedsCache();
  const bool leader = of.strategy == ClusterStrategy::kLeader;
  if (leader || of.strategy == ClusterStrategy::kAggregated) {
    // The data for one core of a node are one piece; with leaders, the data for one leader.
    copies.in = {bytes, nodes * (leader ? of.leaders : cores), exceeds || exchange.readsInPlace()};
  }
  if (leader || of.strategy == ClusterStrategy::kDistributed) {
    copies.out = {bytes, nodes * cores, exceeds || exchange.writesInPlace()};
  }
  return copies;
}

std::unique_ptr<ClusterProgram> alltoallProgram(const Cluster& cluster, const ClusterAlltoall& of,
                                                bool all_nodes) {
  return std::make_unique<AlltoallProgram>(cluster, of, all_nodes);
}

double simulateCopies(const Cluster& cluster, std::uint32_t cores, const Copy& copy) {
  return simulateCluster(cluster, Copies(cores, copy)).seconds;
}

ClusterRun simulateAlltoall(const Cluster& cluster, const ClusterAlltoall& of) {
  const bool all_nodes = isTree(cluster, of);
  ClusterRun run = simulateCluster(cluster, AlltoallProgram(cluster, of, all_nodes));
  const std::uint64_t times = of.calls * std::uint64_t{all_nodes ? of.nodes : 1};
  run.seconds /= of.calls;
  run.messages /= times;
  run.bytes /= static_cast<double>(times);
  run.searched /= times;
  return run;
}

double messagesOf(const Cluster& cluster, const ClusterAlltoall& of) {
  const Exchange exchange = exchangeOf(cluster, of);
  const double senders = (of.strategy == ClusterStrategy::kLeader ? of.leaders : of.cores) *
                         of.calls * (isTree(cluster, of) ? of.nodes : 1.0);
  double sends = 0;
  if (exchange.rounds() > 0) {
    sends = static_cast<double>(exchange.rounds()) * static_cast<double>(exchange.round(0).sends);
  }
  return senders * sends;
}

}  // namespace torc::studies
