// Allreduce along spanning trees: each reduces its share of the vector to its root and broadcasts
// it back. A tree's cables carry its share once in each direction.
//
// Few boxes (node_boxes.h) cover the nodes of a tree whose parents, or children, lie in the same
// direction, and each box is one guarded operation (arc_steps.h): the program grows with the
// structure of the trees, not with the nodes. It is for one segment; the pass `segment` runs it for
// many, one after another. Sums accumulate in `out`.
#ifndef TORC_COMPILER_ALGORITHMS_DAMAGE_TREE_ALLREDUCE_H_
#define TORC_COMPILER_ALGORITHMS_DAMAGE_TREE_ALLREDUCE_H_

#include <cstdint>

#include <llvm/ADT/ArrayRef.h>

#include "compiler/algorithms/damage/rooted_tree.h"
#include "compiler/spec/collective_spec.h"
#include "schedules/schedule.h"

namespace torc::compiler {

/// A spanning tree, and its share of the vector: `weight` over the sum of all trees' weights.
struct WeightedTree {
  TreeCables cables;
  std::uint64_t weight = 1;
};

/// The steps for one segment, with each tree rooted in its middle. `graph` belongs to the spec's
/// topology. A single node copies its data.
Schedule treeAllreduce(const CollectiveSpec& spec, const LiveGraph& graph,
                       llvm::ArrayRef<WeightedTree> trees);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_DAMAGE_TREE_ALLREDUCE_H_
