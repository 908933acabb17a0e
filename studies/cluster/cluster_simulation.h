// Plays a program on a cluster, event by event. docs/research/models.md says what takes time.
#ifndef TORC_STUDIES_CLUSTER_CLUSTER_SIMULATION_H_
#define TORC_STUDIES_CLUSTER_CLUSTER_SIMULATION_H_

#include <cstdint>
#include <vector>

#include "studies/cluster/cluster.h"
#include "studies/cluster/cluster_program.h"

namespace torc::studies {

struct ClusterRun {
  bool completed = false;      // else some core waits for a message that never comes
  double seconds = 0;          // when the last core is done
  std::vector<double> cores;   // when each is
  std::uint64_t messages = 0;  // that went over the network, without those of a rendezvous
  double bytes = 0;            // their data
  std::uint64_t searched = 0;  // entries of queues that cores looked at in vain
};

/// Where the program has more nodes than a leaf switch, they are joined by a fat tree. The same
/// program on the same cluster takes the same time: what happens at one time happens in the order
/// in which it came to be known.
ClusterRun simulateCluster(const Cluster& cluster, const ClusterProgram& program);

}  // namespace torc::studies

#endif  // TORC_STUDIES_CLUSTER_CLUSTER_SIMULATION_H_
