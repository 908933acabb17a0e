// All-to-alls on a cluster: the strategies of "Scaling Alltoall Collective on Multi-core Systems"
// (Kumar, Mamidala and Panda).
//
//   original     the library's all-to-all among all cores
//   leader       the cores of a node copy their blocks to one of them, which exchanges them with
//                other nodes; then the cores copy the received blocks (section 5)
//   aggregated   the cores of a node copy, so that core t has all blocks for core t of every node;
//                then all-to-alls among cores of one number (send-side aggregation, section 5)
//   distributed  all-to-alls among cores of one number, each with all blocks for a node; then the
//                cores copy their own blocks (receive-side distribution, section 5)
//
// The library chooses the all-to-alls between nodes by the size of their own blocks (section 5,
// step 2), unless one is given.
#ifndef TORC_STUDIES_CLUSTER_ALLTOALL_H_
#define TORC_STUDIES_CLUSTER_ALLTOALL_H_

#include <memory>
#include <optional>
#include <string>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "studies/cluster/cluster_simulation.h"
#include "studies/cluster/mpi_alltoalls.h"

namespace torc::studies {

enum class ClusterStrategy : std::uint8_t { kOriginal, kLeader, kAggregated, kDistributed };

inline constexpr ClusterStrategy kClusterStrategies[] = {
    ClusterStrategy::kOriginal, ClusterStrategy::kLeader, ClusterStrategy::kAggregated,
    ClusterStrategy::kDistributed};

const char* nameOf(ClusterStrategy strategy);
std::optional<ClusterStrategy> clusterStrategyNamed(llvm::StringRef name);

/// An all-to-all of `bytes` from each core to each, itself included.
struct ClusterAlltoall {
  std::uint32_t nodes = 1;
  std::uint32_t cores = 1;  // of a node
  double bytes = 0;
  ClusterStrategy strategy = ClusterStrategy::kOriginal;
  std::optional<ExchangeKind>
      kind;                   // of the all-to-all between nodes; default: the library's tuning
  std::uint32_t leaders = 1;  // of a node, by the strategy leader: a divisor of the cores
  std::uint32_t calls = 1;    // successive calls, as in benchmarks
  bool one_switch = false;    // no contention between switches, whatever the cluster's description
};

/// The program of an all-to-all, which keeps a reference to the cluster. Either one node stands for
/// all, or every node is simulated: both take the same time.
std::unique_ptr<ClusterProgram> alltoallProgram(const Cluster& cluster, const ClusterAlltoall& of,
                                                bool all_nodes = false);

/// The all-to-all between nodes, or among all cores, within it.
Exchange exchangeOf(const Cluster& cluster, const ClusterAlltoall& of);

/// Copies of a core before and after the exchange between nodes, including those between own
/// buffers.
struct AlltoallCopies {
  Copy in, out;
};
AlltoallCopies copiesOf(const Cluster& cluster, const ClusterAlltoall& of);

/// Seconds of that copy if all cores of a node do it at the same time.
double simulateCopies(const Cluster& cluster, std::uint32_t cores, const Copy& copy);

/// Messages of one node and seconds, averaged over the calls; 0 seconds for one core. Nodes behind
/// one switch are all alike, and one stands for them; behind a fat tree all are simulated.
ClusterRun simulateAlltoall(const Cluster& cluster, const ClusterAlltoall& of);

/// The messages of the simulated nodes: time and memory are proportional to them.
double messagesOf(const Cluster& cluster, const ClusterAlltoall& of);

}  // namespace torc::studies

#endif  // TORC_STUDIES_CLUSTER_ALLTOALL_H_
