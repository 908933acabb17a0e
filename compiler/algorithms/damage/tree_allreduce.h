// allreduce along spanning trees: each has a share of the vector, which is reduced to the root of
// the tree and broadcast back. A tree's cables carry its share once in each direction.
//
// Nodes of a tree that do the same (whose parent lies in the same direction; that have a child in a
// direction, their first one or a later one; that are leaves) are covered by few boxes
// (node_boxes.h), and each box is one guarded operation: the program grows with the structure of
// the trees, not with the nodes. It is for one segment; the pass `segment` runs it for many, one
// behind the other.
//
// Sums grow in `out`: the first child adds to `in`, each of the others to the sum so far, in one
// order of the directions for all nodes of a tree, such that deep subtrees come last. A receive
// waits for nothing but its scratch, of which each direction has its own. What an operation waits
// for is further up, sends before receives on every node: nothing can deadlock.
#ifndef TORC_COMPILER_ALGORITHMS_DAMAGE_TREE_ALLREDUCE_H_
#define TORC_COMPILER_ALGORITHMS_DAMAGE_TREE_ALLREDUCE_H_

#include <cstdint>

#include <llvm/ADT/ArrayRef.h>

#include "compiler/algorithms/damage/rooted_tree.h"
#include "compiler/spec/collective_spec.h"
#include "schedules/schedule.h"

namespace torc::compiler {

/// A spanning tree, and its share of the vector: `weight` over the sum of those of all trees.
struct WeightedTree {
  TreeCables cables;
  std::uint64_t weight = 1;
};

/// The steps for one segment, with each tree rooted in its middle. `graph` is that of the spec's
/// topology. A node that is alone copies its data.
Schedule treeAllreduce(const CollectiveSpec& spec, const LiveGraph& graph,
                       llvm::ArrayRef<WeightedTree> trees);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_DAMAGE_TREE_ALLREDUCE_H_
