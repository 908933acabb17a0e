// Shared by tests of clusters.
#ifndef TORC_TESTS_STUDIES_CLUSTER_CLUSTER_TESTING_H_
#define TORC_TESTS_STUDIES_CLUSTER_CLUSTER_TESTING_H_

#include <llvm/Support/Error.h>

#include "studies/cluster/cluster.h"

namespace torc::studies {

inline Cluster preset(llvm::StringRef name) {
  return cantFail(findCluster(name));
}

/// Round numbers: cores push 100 bytes/s and work 1 s to send and 4 to receive; 10 bytes/s on the
/// wire, packets of one message with 10 bytes of header; 3 s of latency and 2 in the switch.
inline Cluster unitCluster() {
  Cluster cluster;
  cluster.cache = 1e9;
  cluster.cached_copy = cluster.memory_copy = cluster.memory_bandwidth = 50;
  cluster.pio_limit = 1e9;
  cluster.pio_bandwidth = 100;
  cluster.pio_buffer = 1e9;
  cluster.send_overhead = 1;
  cluster.receive_overhead = 4;
  cluster.bus_bandwidth = cluster.bus_total = 1e9;
  cluster.link_bandwidth = 10;
  cluster.payload = 1000;
  cluster.header = 10;
  cluster.latency = 3;
  cluster.switch_latency = 2;
  cluster.rendezvous = 1e9;
  return cluster;
}

}  // namespace torc::studies

#endif  // TORC_TESTS_STUDIES_CLUSTER_CLUSTER_TESTING_H_
