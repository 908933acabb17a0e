// Repairs spanning trees that damage has cut into pieces, with little loaded cables.
#ifndef TORC_COMPILER_ALGORITHMS_DAMAGE_TREE_REPAIR_H_
#define TORC_COMPILER_ALGORITHMS_DAMAGE_TREE_REPAIR_H_

#include <cstdint>
#include <vector>

#include <llvm/ADT/ArrayRef.h>

#include "compiler/algorithms/damage/tree_allreduce.h"

namespace torc::compiler {

/// Largest number of trees that replace one tree, and of all trees together, unless there were more
/// before.
inline constexpr std::uint32_t kMostShares = 8;
inline constexpr std::uint32_t kMostTrees = 64;

/// Spanning trees of the live nodes, which are connected. `forests` are spanning trees of all nodes
/// without their dead cables, with equal shares of the data. A forest in pieces is replaced by up
/// to kMostShares trees with different additional cables. These lead to the largest piece, have the
/// least load, and make the tree least deep.
std::vector<WeightedTree> repairTrees(const LiveGraph& graph, llvm::ArrayRef<TreeCables> forests);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_DAMAGE_TREE_REPAIR_H_
