// Lower bounds on a graph: what no algorithm can beat that sends over its links, whoever sends on.
// docs/research/bounds.md derives them.
//
// Bandwidth. What must leave a set A of nodes, over the bandwidth of the links out of it, for the
// worst A: every rank alone, and all others; up to kMaxMinimumCutNodes nodes every A there is, by
// maximum flows. An allreduce also moves 2 (p - 1) n bytes in all, which ranks receive; an
// all-to-all its blocks as far as their ranks are apart, over all links.
// Compute. As in bounds.h. Latency. One start-up, and the fastest way between the ranks that are
// furthest apart; of a large graph, to and from rank 0, and of a prefix from there alone.
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
  /// `links` have passed `validateGraph` for so many ranks, at least 1. Of a rooted collective rank
  /// 0 is the root.
  GraphBounds(std::span<const GraphLink> links, std::uint64_t ranks,
              const CollectiveRow& collective);

  /// For `bytes`, as BoundRequest has them. Start-up, cores and memory are those of `machine`.
  /// Seconds are infinite where ranks cannot reach others that need something of them.
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
