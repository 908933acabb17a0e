// Allgather and reduce_scatter around arbitrary damage. Nodes are no longer alike: every operation
// has a single node.
//
// allgather. A breadth-first tree per source: every block takes a shortest path to every node. A
// node takes the block from the least loaded of its neighbours one hop nearer to the source, and
// changes earlier choices if this helps (a matching, node by node). So the blocks are spread evenly
// over its links: (p-1)/p n/deg at best, the lower bound. Blocks over one link from one distance
// share a message. The number of steps is the length of the longest shortest path.
//
// reduce_scatter. The same trees, each towards its source: the allgather reversed in time.
#ifndef TORC_COMPILER_ALGORITHMS_DAMAGE_BREADTH_FIRST_TREES_H_
#define TORC_COMPILER_ALGORITHMS_DAMAGE_BREADTH_FIRST_TREES_H_

#include <cstdint>
#include <vector>

#include <llvm/Support/Error.h>

#include "compiler/algorithms/damage/live_graph.h"
#include "compiler/spec/collective_spec.h"
#include "ir/program.h"

namespace torc::compiler {

/// A breadth-first tree per part and source.
struct BreadthFirstTrees {
  std::uint32_t parts = 1;  // of equal weight
  /// [source][node]: hops.
  std::vector<std::vector<std::uint32_t>> distance;
  /// [part][source][node]: the arc that brings the source's block; kNone at the source.
  std::vector<std::vector<std::vector<std::uint32_t>>> arc_to;
  /// Blocks over the busiest link in one direction, divided by its bandwidth.
  double load = 0;
};

/// Trees that spread the blocks as evenly over links as choices node by node allow. They have at
/// most kMostTreeParts parts: the fewest within 2 % of the best.
inline constexpr std::uint32_t kMostTreeParts = 4;
BreadthFirstTrees balancedTrees(const LiveGraph& graph);

/// The steps of an allgather or reduce_scatter. An error if there are more than kMaxTreeNodes live
/// nodes (spanning_trees.h).
llvm::Expected<ir::Program> lowerBreadthFirstTrees(const CollectiveSpec& spec);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_DAMAGE_BREADTH_FIRST_TREES_H_
