// All-to-alls on a cluster: the strategies of "Scaling Alltoall Collective on Multi-core Systems"
// (Kumar, Mamidala and Panda).
//
//   original     the library's all-to-all among all cores
//   leader       the cores of a node copy what they send to where one of them finds it; it takes
//   part
//                in an all-to-all among nodes for them; they copy what has come (section 5)
//   aggregated   the cores of a node copy so that core t has what goes to core t of every node;
//   then
//                all-to-alls among cores of one number (send-side aggregation, section 5)
//   distributed  all-to-alls among cores of one number, each with all that goes to a node; then the
//                cores copy what is theirs (receive-side distribution, section 5)
//
// The all-to-alls between nodes are the library's, by the size of their own blocks (section 5, step
// 2), or one that is named.
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
      kind;                   // of the all-to-all between nodes; else as the library is tuned
  std::uint32_t leaders = 1;  // of a node, by the strategy leader: a divisor of the cores
  std::uint32_t calls = 1;    // one behind the other, as benchmarks make them
  bool one_switch = false;    // no contention between switches, whatever the cluster says
};

/// The program of an all-to-all, which keeps a reference to the cluster. One node stands for all,
/// or every node is there: both take the same time.
std::unique_ptr<ClusterProgram> alltoallProgram(const Cluster& cluster, const ClusterAlltoall& of,
                                                bool all_nodes = false);

/// The all-to-all between nodes, or among all cores, that is a part of it.
Exchange exchangeOf(const Cluster& cluster, const ClusterAlltoall& of);

/// What a core copies before and after the exchange between nodes, own buffers included.
struct AlltoallCopies {
  Copy in, out;
};
AlltoallCopies copiesOf(const Cluster& cluster, const ClusterAlltoall& of);

/// Seconds in which all cores of a node, at the same time, do that copy each.
double simulateCopies(const Cluster& cluster, std::uint32_t cores, const Copy& copy);

/// Messages of one node and seconds, on average of the calls; 0 seconds where there is one core.
/// Nodes behind one switch are all alike,
/// and one stands for them; behind a fat tree all are simulated.
ClusterRun simulateAlltoall(const Cluster& cluster, const ClusterAlltoall& of);

/// The messages of the nodes that are simulated, which is what time and memory grow with.
double messagesOf(const Cluster& cluster, const ClusterAlltoall& of);

}  // namespace torc::studies

#endif  // TORC_STUDIES_CLUSTER_ALLTOALL_H_
