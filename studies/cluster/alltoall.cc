// The programs of the strategies.
#include "studies/cluster/alltoall.h"

namespace torc::studies {
namespace {

std::uint32_t ranksPerNode(const ClusterAlltoall& of) {
  return of.strategy == ClusterStrategy::kOriginal ? of.cores : 1;
}

/// Rounds of a core: copy-in and a barrier where there is something to share; the exchange; a
/// barrier and copy-out.
class AlltoallProgram : public ClusterProgram {
 public:
  AlltoallProgram(const Cluster& cluster, const ClusterAlltoall& of, bool all_nodes)
      : of_(of),
        exchange_(exchangeOf(cluster, of)),
        copies_(copiesOf(cluster, of)),
        all_nodes_(all_nodes) {}

  std::uint32_t nodes() const override { return all_nodes_ ? of_.nodes : 1; }
  std::uint32_t coresPerNode() const override { return of_.cores; }

  std::uint64_t rounds(std::uint32_t core) const override {
    return before() + exchangeRounds(core) + (distributes() ? 1 : 0);
  }

  Round round(std::uint32_t core, std::uint64_t index) const override {
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
    const bool original = of_.strategy == ClusterStrategy::kOriginal;
    const Exchange::Way way = exchange_.way(original ? own : 0, round - before(), send);
    const std::uint32_t peer = original ? way.peer : own;
    std::uint32_t there = node;
    if (all_nodes_) there = exchange_.isOfBits() ? node ^ way.out : (node + way.out) % of_.nodes;
    return {there * of_.cores + peer, way.out != 0, way.blocks * exchange_.blockBytes(),
            connection(own, way.out, peer), connection(peer, way.in, own)};
  }

 private:
  bool aggregates() const {
    return of_.strategy == ClusterStrategy::kLeader || of_.strategy == ClusterStrategy::kAggregated;
  }
  bool distributes() const {
    return of_.strategy == ClusterStrategy::kLeader ||
           of_.strategy == ClusterStrategy::kDistributed;
  }
  std::uint64_t before() const { return aggregates() ? 2 : 0; }
  std::uint64_t exchangeRounds(std::uint32_t core) const {
    const bool leads = of_.strategy != ClusterStrategy::kLeader || core % of_.cores == 0;
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
  double block = of.bytes;  // what one rank of the exchange has for another
  if (of.strategy == ClusterStrategy::kLeader) block *= of.cores;
  if (of.strategy != ClusterStrategy::kOriginal) block *= of.cores;
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
    // What goes to one core of a node is one piece; to a leader, what goes to one node.
    copies.in = {bytes, leader ? nodes : nodes * cores, exceeds || exchange.readsInPlace()};
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
  return simulateCluster(cluster, AlltoallProgram(cluster, of, /*all_nodes=*/false));
}

double messagesOf(const Cluster& cluster, const ClusterAlltoall& of) {
  const Exchange exchange = exchangeOf(cluster, of);
  const double senders = of.strategy == ClusterStrategy::kLeader ? 1 : of.cores;
  double sends = 0;
  if (exchange.rounds() > 0) {
    sends = static_cast<double>(exchange.rounds()) * static_cast<double>(exchange.round(0).sends);
  }
  return senders * sends;
}

}  // namespace torc::studies
