// The all-to-alls of an MPI library, among ranks that lie on the nodes of a cluster in order: which
// rank sends how many blocks to which other in which round.
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

/// What the library of the cluster takes for blocks of `bytes`.
ExchangeKind tunedExchange(const Cluster& cluster, double bytes);

/// An all-to-all among `nodes` * `per_node` ranks: rank r is rank r % per_node of node r /
/// per_node. What a rank does depends on its number in the node alone.
class Exchange {
 public:
  /// Blocks of `bytes` each. Data of more than `cache` bytes in a rank are not in its cache; the
  /// NIC touches messages of a size for which `in_place` says so.
  Exchange(const Cluster& cluster, ExchangeKind kind, std::uint32_t nodes, std::uint32_t per_node,
           double bytes);

  std::uint64_t rounds() const;
  /// The sends, receives and copies of round `index` of rank `of` of each node.
  Round round(std::uint64_t index) const;

  /// The way of a message: to rank `peer` of the node that is `out` nodes up from the sender's (or
  /// differs by `out` in its bits), which sees the sender `in` nodes up.
  struct Way {
    std::uint32_t peer = 0;
    std::uint32_t out = 0, in = 0;  // 0: inside the node
    double blocks = 0;
  };
  Way way(std::uint32_t of, std::uint64_t round, std::uint64_t send) const;
  /// Whether `out` and `in` are differences of bits, not numbers of nodes up.
  bool isOfBits() const;

  ExchangeKind kind() const { return kind_; }
  double blockBytes() const { return bytes_; }
  /// Whether a rank's data leave its cache.
  bool exceedsCache() const { return exceeds_cache_; }
  /// Whether the NIC reads, or writes, the buffers of the caller of this exchange.
  bool readsInPlace() const;
  bool writesInPlace() const;

 private:
  double blocksOf(std::uint64_t round) const;
  /// Whether the NIC fetches a message of that size from where it lies, or puts it where it
  /// belongs.
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
