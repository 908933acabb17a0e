// Rectangular and binomial trees under LogP: times of a multicast (MPI's broadcast) or a reduction
// by "Improving communication performance in dense linear algebra via topology aware collectives"
// (Solomonik, Bhatele and Demmel, SC 2011), section 4. docs/research/models.md compares with the
// paper's text.
//
// Notation of the paper: P nodes, d dimensions, m bytes of the vector; o and L (seconds) as in
// model/machines/machine.h, g (s/byte) of one link in one direction; gamma (additions/s) and beta
// (bytes/s of memory) of a node.
//   rectangular multicast, Eq. 6   m/(2d) g + 2(d+1) o + 3L + d P^(1/d) (2o + L)
//   rectangular reduction, Eq. 8   the same with max(m/(8 gamma), 3m/beta, m/(2d) g) for m/(2d) g
//   binomial multicast, Eq. 9      log2(P) (m/(2d) g + 2o + L)
// The paper has no equation for a binomial reduction. Here it is Eq. 9 with the maximum of Eq. 8:
// in every stage a node sums the received data. On the paper's machines the maximum is m/(2d) g.
//
// Unlike the trees of studies/baselines/baselines.h, these count the hops of one packet, of no
// size, and not segments that follow each other.
#ifndef TORC_STUDIES_LOGP_TREES_H_
#define TORC_STUDIES_LOGP_TREES_H_

#include <cstdint>

#include "model/machines/machine.h"

namespace torc::studies {

/// A machine's parameters in the equations.
struct LogPTorus {
  double nodes = 1;              // P >= 1
  std::uint32_t dimensions = 0;  // d, of more than one node
  /// Rectangular trees, which share no link: 2d on a torus, d on a mesh (section 2); with rings in
  /// some dimensions only, two for each of these and one for each other.
  std::uint32_t trees = 0;
  std::uint32_t links = 0;  // used by a node at a time: one for each tree, if it has the ports
  double overhead = 0;      // o, seconds
  double latency = 0;       // L, seconds
  double gap = 0;           // g, s/byte: of the slowest dimension's link
  double summing = 0;       // max(1/(8 gamma), 3/beta), s/byte of a node with all its cores
};

/// Every node a process of its own. An `alpha` of the machine is a part of L: both pass between the
/// sending of a message and its arrival, without using a core. Damage is ignored.
LogPTorus logPTorusOf(const model::Machine& machine);

/// Seconds, divided as in the paper (section 4.2).
struct TreeTime {
  double bandwidth_s = 0;  // until the root has sent everything, or everything is summed
  double start_up_s = 0;   // setting up all trees at the root
  double hops_s = 0;       // of a packet from the root to the farthest node, or the other way
  double seconds() const { return bandwidth_s + start_up_s + hops_s; }
};

/// For `bytes` >= 0 in all; 0 seconds on one node.
TreeTime rectangularMulticast(const LogPTorus& torus, double bytes);
TreeTime rectangularReduction(const LogPTorus& torus, double bytes);
TreeTime binomialMulticast(const LogPTorus& torus, double bytes);
TreeTime binomialReduction(const LogPTorus& torus, double bytes);

}  // namespace torc::studies

#endif  // TORC_STUDIES_LOGP_TREES_H_
