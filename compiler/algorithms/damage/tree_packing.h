// Packings of spanning trees: the largest number of trees such that each cable is in at most as
// many trees as it has copies. By Tutte and Nash-Williams that is the least floor(copies between
// parts / (parts - 1)) over all partitions of the nodes. Found by matroid union (Edmonds, "Minimum
// Partition of a Matroid into Independent Subsets", 1965; Roskind and Tarjan, "A Note on Finding
// Minimum-Cost Edge-Disjoint Spanning Trees", 1985): forests grow by one edge at a time along a
// shortest chain of exchanges.
#ifndef TORC_COMPILER_ALGORITHMS_DAMAGE_TREE_PACKING_H_
#define TORC_COMPILER_ALGORITHMS_DAMAGE_TREE_PACKING_H_

#include <cstdint>
#include <optional>
#include <vector>

#include <llvm/ADT/ArrayRef.h>

#include "compiler/algorithms/damage/live_graph.h"
#include "compiler/algorithms/damage/rooted_tree.h"

namespace torc::compiler {

/// `count` spanning trees that together use cable c at most `copies[c]` times; std::nullopt if they
/// do not exist. The graph is connected. Different seeds give different trees.
std::optional<std::vector<TreeCables>> packTrees(const LiveGraph& graph,
                                                 llvm::ArrayRef<std::uint32_t> copies,
                                                 std::uint32_t count, std::uint32_t seed = 0);

/// Nodes on a longest path in a tree: twice its depth from the middle.
std::uint32_t longestWay(const LiveGraph& graph, const TreeCables& tree);

struct TreePacking {
  std::vector<TreeCables> trees;
  /// Load of the busiest cable in one direction over its bandwidth, if each tree carries an equal
  /// share of 1.
  double load = 0;
};

/// The packing of least load among those with up to `kMostCopies` copies per unit of bandwidth; of
/// those within 2 % of it, the one of the fewest trees; of several of these, the one with the least
/// maximum depth.
inline constexpr std::uint32_t kMostCopies = 4;
TreePacking bestPacking(const LiveGraph& graph);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_DAMAGE_TREE_PACKING_H_
