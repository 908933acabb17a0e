// allreduce along spanning trees: each has a share of the vector, which is reduced to the root of
// the tree and broadcast back. A tree's cables carry its share once in each direction.
//
// Nodes of a tree whose parents, or children, lie in the same direction are covered by few boxes
// (node_boxes.h), and each box is one guarded operation (arc_steps.h): the program grows with the
// structure of the trees, not with the nodes. It is for one segment; the pass `segment` runs it for
// many, one behind the other. Sums grow in `out`.
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
