// A spanning tree of the live nodes, seen from its root.
#ifndef TORC_COMPILER_ALGORITHMS_DAMAGE_ROOTED_TREE_H_
#define TORC_COMPILER_ALGORITHMS_DAMAGE_ROOTED_TREE_H_

#include <cstdint>
#include <vector>

#include "compiler/algorithms/damage/live_graph.h"

namespace torc::compiler {

/// Cables of a spanning tree: one less than there are nodes.
using TreeCables = std::vector<std::uint32_t>;

struct RootedTree {
  std::vector<std::uint32_t> order;     // nodes, the root first, by depth
  std::vector<std::uint32_t> arc_from;  // by node: the arc that leads to it from its parent; kNone
                                        // at the root, and for what the root does not reach
  std::uint32_t root() const { return order.front(); }
};

/// Cables that close no circle, by the nodes that they join: a tree, or several.
class TreeArcs {
 public:
  TreeArcs(const LiveGraph& graph, const TreeCables& cables);

  /// The tree that has `node`, rooted there.
  RootedTree rootedAt(std::uint32_t node) const;
  /// The same rooted in its middle, where it is least deep: half way between two ends of a longest
  /// way.
  RootedTree rootedInTheMiddle(std::uint32_t node = 0) const;

 private:
  const LiveGraph& graph_;
  std::vector<std::uint32_t> first_, arcs_;  // arcs by the node that they leave
};

/// Writes the messages from the root to each node that the tree reaches into `depth`, by node.
void addDepths(const LiveGraph& graph, const RootedTree& tree, std::vector<std::uint32_t>& depth);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_DAMAGE_ROOTED_TREE_H_
