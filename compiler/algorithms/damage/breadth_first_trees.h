// allgather and reduce_scatter around arbitrary damage, for nodes that are no longer alike: every
// operation is one node's.
//
// allgather. A breadth-first tree per source: every block takes a shortest way to every node. Of
// the neighbours that are one hop nearer to the source each node takes the block from the one whose
// link to it has the least to carry, and moves earlier choices where that helps (a matching, node
// by node), so that the blocks are spread evenly over its links: (p-1)/p n/deg at best, which is
// the bound. Blocks that come over one link at one distance go together. The steps are as many as
// the longest shortest way, no more.
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

/// The steps of an allgather or reduce_scatter. An error where there are more than kMaxTreeNodes
/// live nodes (spanning_trees.h).
llvm::Expected<ir::Program> lowerBreadthFirstTrees(const CollectiveSpec& spec);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_DAMAGE_BREADTH_FIRST_TREES_H_
