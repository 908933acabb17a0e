// Trees that damage has cut into pieces, joined again by cables that carry little.
#ifndef TORC_COMPILER_ALGORITHMS_DAMAGE_TREE_REPAIR_H_
#define TORC_COMPILER_ALGORITHMS_DAMAGE_TREE_REPAIR_H_

#include <cstdint>
#include <vector>

#include <llvm/ADT/ArrayRef.h>

#include "compiler/algorithms/damage/tree_allreduce.h"

namespace torc::compiler {

/// Trees that share what was one tree, at most, and all trees together, unless that are fewer than
/// there were.
inline constexpr std::uint32_t kMostShares = 8;
inline constexpr std::uint32_t kMostTrees = 64;

/// Of `forests`, each the cables of a spanning tree of more nodes without those that are dead:
/// spanning trees of the live nodes, which are connected. Forests have equal shares of the data;
/// one in pieces is replaced by up to kMostShares trees, each joined by other cables: of those that
/// lead to the largest piece, one that carries least, and where the tree becomes least deep.
std::vector<WeightedTree> repairTrees(const LiveGraph& graph, llvm::ArrayRef<TreeCables> forests);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_DAMAGE_TREE_REPAIR_H_
