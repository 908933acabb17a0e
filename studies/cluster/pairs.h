// The paper's point-to-point tests: pairs of cores on two nodes that send to each other.
#ifndef TORC_STUDIES_CLUSTER_PAIRS_H_
#define TORC_STUDIES_CLUSTER_PAIRS_H_

#include "studies/cluster/cluster_simulation.h"

namespace torc::studies {

/// Seconds from the call of a send to the return of the receive, for `pairs` cores at either end at
/// the same time: half of a ping-pong.
double pairLatency(const Cluster& cluster, std::uint32_t pairs, double bytes);

/// Messages of `pairs` pairs in one second, as in osu_bw with one direction and osu_bibw with both:
/// windows of 64 messages of `bytes`, each started after the answer to the one before.
struct PairRate {
  double messages = 0;  // a second, both directions
  double bytes = 0;
};
PairRate pairRate(const Cluster& cluster, std::uint32_t pairs, double bytes, bool both_directions);

}  // namespace torc::studies

#endif  // TORC_STUDIES_CLUSTER_PAIRS_H_
