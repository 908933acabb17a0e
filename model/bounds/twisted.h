// Twisted tori, as in TPU v4: sizes k, k, 2k or k, 2k, 2k in any order; links that wrap along an
// axis of k nodes end k nodes further along every axis of 2k. All nodes and all links are
// equivalent, unlike the links of a torus of these sizes (Camara et al., "Twisted Torus Topologies
// for Enhanced Interconnection Networks", IEEE TPDS 2010).
#ifndef TORC_MODEL_BOUNDS_TWISTED_H_
#define TORC_MODEL_BOUNDS_TWISTED_H_

#include <cstdint>
#include <vector>

#include <llvm/ADT/ArrayRef.h>

#include "schedules/topology/graph.h"
#include "schedules/topology/topology.h"

namespace torc::model {

/// The links of a twisted torus as a graph, all of `bandwidth` bytes/s and `latency` seconds,
/// sorted. `places` is the torus of its sizes without the twist, and numbers the nodes, by
/// coordinates in which all nodes are equivalent: on each long axis the sum of the short
/// coordinates is added, modulo its size. In these, links along a short axis are diagonal, and
/// nothing is shifted.
std::vector<GraphLink> twistedLinks(const Topology& places, double bandwidth, double latency);

/// Hops from a node of a twisted torus of `sizes` to all others, by breadth-first search.
struct TwistedDistances {
  double sum = 0;
  std::uint32_t furthest = 0;
};
TwistedDistances twistedDistances(llvm::ArrayRef<std::uint32_t> sizes);

}  // namespace torc::model

#endif  // TORC_MODEL_BOUNDS_TWISTED_H_
