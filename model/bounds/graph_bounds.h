// Lower bounds on a graph: times that no algorithm over its links can beat, whichever ranks forward
// data. docs/research/bounds.md derives them.
//
// Bandwidth. The data that must leave a set A of nodes, over the bandwidth of the links out of it,
// for the worst A: every rank alone, and all others; up to kMaxMinimumCutNodes nodes every possible
// A, by maximum flows. An allreduce also moves 2 (p - 1) n bytes in all, received by ranks; an
// all-to-all its blocks over the distances of their ranks, over all links. Compute. As in bounds.h.
// Latency. One start-up, and the fastest route between the ranks that are farthest apart; of a
// large graph, to and from rank 0, and of a prefix from there alone.
#ifndef TORC_MODEL_BOUNDS_GRAPH_BOUNDS_H_
#define TORC_MODEL_BOUNDS_GRAPH_BOUNDS_H_

#include <cstdint>
#include <span>

#include "model/bounds/bounds.h"
#include "model/machines/machine.h"
#include "schedules/collective.h"
#include "schedules/topology/graph.h"

namespace torc::model {

class GraphBounds {
 public:
  /// `links` have passed `validateGraph` for `ranks` ranks, at least 1. Rank 0 is the root of a
  /// rooted collective.
  GraphBounds(std::span<const GraphLink> links, std::uint64_t ranks,
              const CollectiveRow& collective);

  /// The bound for `bytes`, as in BoundRequest. Start-up, cores and memory are those of `machine`.
  /// Seconds are infinite if ranks cannot reach others that need their data.
  Bound bound(const Machine& machine, double bytes) const;

 private:
  CollectiveRow collective_;
  double ranks_;
  double bandwidth_s_ = 0;  // for one byte
  double way_s_ = 0;
  BandwidthLimit limit_ = BandwidthLimit::kNone;
};

}  // namespace torc::model

#endif  // TORC_MODEL_BOUNDS_GRAPH_BOUNDS_H_
