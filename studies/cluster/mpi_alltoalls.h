// The all-to-alls of an MPI library, among ranks in order on the nodes of a cluster: the messages
// of every round.
//
// Bruck's: "Efficient Algorithms for All-to-All Communications in Multiport Message-Passing
// Systems" (Bruck et al., IEEE TPDS 8(11), 1997); direct and pairwise: "Optimization of Collective
// Communication Operations in MPICH" (Thakur et al., IJHPCA 19(1), 2005).
#ifndef TORC_STUDIES_CLUSTER_MPI_ALLTOALLS_H_
#define TORC_STUDIES_CLUSTER_MPI_ALLTOALLS_H_

#include <cstdint>

#include "studies/cluster/cluster.h"
#include "studies/cluster/cluster_program.h"

namespace torc::studies {

enum class ExchangeKind : std::uint8_t { kBruck, kDirect, kPairwise };

/// "bruck", "direct", "pairwise".
const char* nameOf(ExchangeKind kind);

/// The library's algorithm for blocks of `bytes` on the cluster.
ExchangeKind tunedExchange(const Cluster& cluster, double bytes);

/// An all-to-all among `nodes` * `per_node` ranks: rank r is rank r % per_node of node r /
/// per_node. The actions of a rank depend only on its number in the node.
class Exchange {
 public:
  /// Blocks of `bytes` each. If a rank has more than `cache` bytes, its data are not in its cache;
  /// the NIC reads or writes user buffers of messages whose size satisfies `in_place`.
  Exchange(const Cluster& cluster, ExchangeKind kind, std::uint32_t nodes, std::uint32_t per_node,
           double bytes);

  std::uint64_t rounds() const;
  /// The sends, receives and copies of round `index` of rank `of` of each node.
  Round round(std::uint64_t index) const;

  /// The route of a message: to rank `peer` of the node `out` nodes up from the sender's (or at a
  /// difference of `out` in bits), which sees the sender `in` nodes up.
  struct Way {
    std::uint32_t peer = 0;
    std::uint32_t out = 0, in = 0;  // 0: inside the node
    double blocks = 0;
  };
  Way way(std::uint32_t of, std::uint64_t round, std::uint64_t send) const;
  /// Whether `out` and `in` are differences of bits instead of numbers of nodes.
  bool isOfBits() const;

  ExchangeKind kind() const { return kind_; }
  double blockBytes() const { return bytes_; }
  /// Whether a rank's data exceed its cache.
  bool exceedsCache() const { return exceeds_cache_; }
  /// Whether the NIC reads, or writes, the caller's buffers in this exchange.
  bool readsInPlace() const;
  bool writesInPlace() const;

 private:
  double blocksOf(std::uint64_t round) const;
  /// Whether the NIC reads a message of that size from the user buffer, or writes it there.
  bool isRead(double bytes) const;
  bool isWritten(double bytes) const;

  const Cluster& cluster_;
  ExchangeKind kind_;
  std::uint32_t nodes_, per_node_;
  std::uint64_t ranks_;
  double bytes_;
  bool exceeds_cache_;
};

}  // namespace torc::studies

#endif  // TORC_STUDIES_CLUSTER_MPI_ALLTOALLS_H_
