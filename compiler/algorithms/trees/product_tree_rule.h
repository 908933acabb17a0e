// Trees on a product of rings and lines. On the R rings there are 2R arc-disjoint spanning trees
// from the root T_1, T_2, ..., the rectangular ones (rectangular.cc), in each of which the root has
// one child c_t. On the L lines there are L trees U_1, ..., U_L. In U_j, if a node differs from the
// root on axis j, its parent is one step nearer to the root. This step is along the last axis in
// the cyclic order j, j+1, ..., j-1 on which they differ. Otherwise its parent is a neighbour along
// j, above it, or below it if the root is at the end. The product has 2R + L trees, as many as the
// links of a corner. A node (g, h) has its place g on the rings and h on the lines; the root is
// (g0, h0). With L <= 2R, the trees T_t, t > L, each have a partner a(t) <= L:
//   of ring tree t     h = h0: T_t.   g = g0: from (c_t, h).
//     t <= L           g a child c_u with a(u) = t: T_t, else U_t.
//     t > L            g = c_t: U_a(t), else T_t.
//   of line tree j     g = g0: U_j.   h = h0: from (g, e_j), e_j next to h0 along axis j.
//                      g a child c_u with a(u) = j: T_u, from (g0, h); else T_j.
// At every node these are different arcs, and no path is a cycle: T_t alone and U_t alone have
// none. A path along T_t in tree t <= L ends at c_t, and continues along U_t towards h0. A path
// along T_t in tree t > L ends at c_t in the same manner. (The product of graphs with k and l such
// trees is known to have k + l for edge-disjoint trees without a root: Ku, Wang, Hung,
// "Constructing Edge-Disjoint Spanning Trees in Product Networks", 2003.)
//
// If L > 2R, rings count as lines, which costs a tree each. If L = 1, so does a ring of two, for
// both of its trees have the same c_t. On a line with coordinates relative to the root, the root is
// at its beginning.
#ifndef TORC_COMPILER_ALGORITHMS_TREES_PRODUCT_TREE_RULE_H_
#define TORC_COMPILER_ALGORITHMS_TREES_PRODUCT_TREE_RULE_H_

#include <cstdint>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>

#include "compiler/algorithms/trees/arc_boxes.h"
#include "compiler/algorithms/trees/root_classes.h"
#include "schedules/schedule.h"

namespace torc::compiler {

/// The last hop to a node: along `axis` by `sign`; with sign 0 from the neighbour above, or at the
/// end of the line from the one below.
struct TreeHop {
  std::uint32_t axis = 0;
  int sign = 0;
  bool operator==(const TreeHop&) const = default;
};

/// The kind of each axis of a topology for the trees.
llvm::SmallVector<TreeAxis, kMaxAxes> treeAxes(const Topology& topology);

/// The last hop to each node in each tree.
class TreeRule {
 public:
  TreeRule(llvm::ArrayRef<TreeAxis> axes, llvm::ArrayRef<std::uint32_t> sizes);
  explicit TreeRule(const Topology& topology);

  llvm::ArrayRef<TreeAxis> axes() const { return axes_; }
  llvm::ArrayRef<std::uint32_t> sizes() const { return sizes_; }
  std::uint32_t ringTrees() const { return 2 * static_cast<std::uint32_t>(rings_.size()); }
  std::uint32_t trees() const { return ringTrees() + static_cast<std::uint32_t>(lines_.size()); }

  /// The arcs of one tree.
  Arcs arcs(std::uint32_t tree) const;
  /// The last hop to the node at `at`, not the root; its sign is not 0.
  TreeHop into(std::uint32_t tree, const Coordinates& at, const Coordinates& root) const;

  static bool isAtRoot(llvm::ArrayRef<std::uint32_t> axes, RootClasses at) {
    return llvm::all_of(axes, [&](std::uint32_t axis) { return at[axis] == RootClass::kAtRoot; });
  }

 private:
  /// The last hop to a node that is not the root.
  TreeHop into(std::uint32_t tree, RootClasses at) const;
  std::uint32_t firstAxis(std::uint32_t tree) const {
    return tree % static_cast<std::uint32_t>(rings_.size());
  }
  int sign(std::uint32_t tree) const { return tree < rings_.size() ? 1 : -1; }
  std::uint32_t partner(std::uint32_t tree) const;
  TreeHop alongRings(std::uint32_t tree, RootClasses at) const;
  TreeHop alongLines(std::uint32_t tree, RootClasses at) const;
  bool isRootsChild(std::uint32_t tree, RootClasses at) const;
  /// The tree with partner `tree` in which `at` is the root's child on the rings; kNone without
  /// one.
  std::uint32_t childOfPartner(std::uint32_t tree, RootClasses at) const;

  const llvm::SmallVector<TreeAxis, kMaxAxes> axes_;
  const llvm::SmallVector<std::uint32_t, kMaxAxes> sizes_;
  llvm::SmallVector<std::uint32_t, kMaxAxes> rings_, lines_;
  llvm::SmallVector<bool, kMaxAxes> is_pair_;  // by ring: it has two nodes
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_TREES_PRODUCT_TREE_RULE_H_
