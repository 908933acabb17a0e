// allgather and reduce_scatter on a tree of shortest ways per source; compiler/algorithms/
// spanning_trees.h says how.
#ifndef TORC_COMPILER_ALGORITHMS_TREES_BREADTH_FIRST_TREES_H_
#define TORC_COMPILER_ALGORITHMS_TREES_BREADTH_FIRST_TREES_H_

#include <cstdint>
#include <vector>

#include "compiler/algorithms/live_graph.h"
#include "compiler/collective_spec.h"
#include "schedules/schedule.h"

namespace torc {

/// For every part, a breadth-first tree per source.
struct BreadthFirstTrees {
  std::uint32_t parts = 1;  // of equal weight
  /// [source][node]: hops.
  std::vector<std::vector<std::uint32_t>> distance;
  /// [part][source][node]: the arc over which the source's block comes; kNone at the source.
  std::vector<std::vector<std::vector<std::uint32_t>>> arc_to;
  /// Blocks over the busiest link in one direction, divided by its bandwidth.
  double load = 0;
};

/// Trees whose links share the blocks as evenly as a choice node by node can, in as many parts as
/// are worth it: at most kMostTreeParts, the fewest within 2 % of the best.
inline constexpr std::uint32_t kMostTreeParts = 4;
BreadthFirstTrees balancedTrees(const LiveGraph& graph);

/// The steps of an allgather or reduce_scatter on at least two nodes.
Schedule breadthFirstAllgather(const CollectiveSpec& spec, const LiveGraph& graph);
Schedule breadthFirstReduceScatter(const CollectiveSpec& spec, const LiveGraph& graph);

}  // namespace torc

#endif  // TORC_COMPILER_ALGORITHMS_TREES_BREADTH_FIRST_TREES_H_
