// Simulates a program on a cluster, event by event. docs/research/models.md describes the costs.
#ifndef TORC_STUDIES_CLUSTER_CLUSTER_SIMULATION_H_
#define TORC_STUDIES_CLUSTER_CLUSTER_SIMULATION_H_

#include <cstdint>
#include <vector>

#include "studies/cluster/cluster.h"
#include "studies/cluster/cluster_program.h"

namespace torc::studies {

struct ClusterRun {
  bool completed = false;      // else some core waits for a message that never comes
  double seconds = 0;          // end of the last core
  std::vector<double> cores;   // end of each core
  std::uint64_t messages = 0;  // over the network, without those of a rendezvous
  double bytes = 0;            // their data
  std::uint64_t searched = 0;  // queue entries that cores examined without a match
};

/// If the program has more nodes than a leaf switch, a fat tree joins them. Runs are reproducible:
/// simultaneous events are processed in the order of their creation.
ClusterRun simulateCluster(const Cluster& cluster, const ClusterProgram& program);

}  // namespace torc::studies

#endif  // TORC_STUDIES_CLUSTER_CLUSTER_SIMULATION_H_
