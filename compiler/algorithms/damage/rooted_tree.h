// A spanning tree of the live nodes, seen from its root.
#ifndef TORC_COMPILER_ALGORITHMS_DAMAGE_ROOTED_TREE_H_
#define TORC_COMPILER_ALGORITHMS_DAMAGE_ROOTED_TREE_H_

#include <cstdint>
#include <vector>

#include "compiler/algorithms/damage/live_graph.h"

namespace torc::compiler {

/// Cables of a spanning tree: one less than the number of nodes.
using TreeCables = std::vector<std::uint32_t>;

struct RootedTree {
  std::vector<std::uint32_t> order;  // nodes, the root first, by depth
  /// By node: the arc from its parent; kNone at the root, and for nodes outside the tree.
  std::vector<std::uint32_t> arc_from;
  std::uint32_t root() const { return order.front(); }
};

/// Cables without cycles, by the nodes that they join: one tree, or several.
class TreeArcs {
 public:
  TreeArcs(const LiveGraph& graph, const TreeCables& cables);

  /// The tree that contains `node`, rooted there.
  RootedTree rootedAt(std::uint32_t node) const;
  /// The same tree rooted in its middle, with the least depth: half way between the ends of a
  /// longest path.
  RootedTree rootedInTheMiddle(std::uint32_t node = 0) const;

 private:
  const LiveGraph& graph_;
  std::vector<std::uint32_t> first_, arcs_;  // arcs by the node that they leave
};

/// For each node of the tree, writes the number of messages from the root into `depth`.
void addDepths(const LiveGraph& graph, const RootedTree& tree, std::vector<std::uint32_t>& depth);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_DAMAGE_ROOTED_TREE_H_
