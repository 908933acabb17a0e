// The arcs of trees, in boxes of nodes: what a rule says of a tree, from any root.
#ifndef TORC_COMPILER_ALGORITHMS_TREES_ARC_BOXES_H_
#define TORC_COMPILER_ALGORITHMS_TREES_ARC_BOXES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include "compiler/algorithms/trees/root_classes.h"
#include "schedules/schedule.h"

namespace torc::compiler {

/// Disjoint boxes of nodes.
using NodeSet = llvm::SmallVector<Box, 1>;

/// Messages of a tree that go by `hops` along `axis`, from `parents` to `children`, for any root.
struct ArcBoxes {
  std::uint32_t axis = 0;
  std::int32_t hops = 1;
  NodeSet children, parents;
};

/// Those of one tree. What lies deepest below them comes first: so a node sends in their order, and
/// adds sums in the opposite one. Sets of children are disjoint, and so are those of the parents
/// of one axis and hops.
using Arcs = std::vector<ArcBoxes>;

/// The nodes that arcs are of, and the root among them.
class ArcNodes {
 public:
  virtual ~ArcNodes() = default;

  /// The root alone.
  virtual Box root() const = 0;
  /// All nodes, for the roots that the arcs are for.
  virtual Box everyone() const { return {}; }
  /// Whether the root has steps of its own, and does not do as others once it has copied its data.
  virtual bool isRootApart() const { return true; }
  /// Whether some node is in both boxes; nothing: it is not known.
  virtual std::optional<bool> meet(const Box&, const Box&) const { return std::nullopt; }
  /// `nodes` without the root, if that is apart.
  virtual NodeSet withoutRoot(const NodeSet& nodes) const { return nodes; }
  /// The root, for those roots that are among the parents of an arc, if it is apart.
  virtual std::optional<Box> rootAmong(const ArcBoxes&) const { return std::nullopt; }
  /// `nodes` without `others`: nothing if it is not known.
  virtual std::optional<NodeSet> subtract(const NodeSet&, const NodeSet&) const {
    return std::nullopt;
  }
  /// How many nodes there are; 0: it does not matter.
  virtual std::uint64_t count(const NodeSet&) const { return 0; }
};

/// The nodes of a torus whose coordinates count from the root on rings.
class RootedNodes : public ArcNodes {
 public:
  RootedNodes(llvm::ArrayRef<TreeAxis> axes, llvm::ArrayRef<std::uint32_t> sizes,
              bool is_root_apart = true)
      : axes_(axes.begin(), axes.end()),
        sizes_(sizes.begin(), sizes.end()),
        is_root_apart_(is_root_apart) {}

  Box root() const override { return rootWithChild(kNone, 0); }
  bool isRootApart() const override { return is_root_apart_; }
  NodeSet withoutRoot(const NodeSet& nodes) const override;
  std::optional<Box> rootAmong(const ArcBoxes& arc) const override;
  std::optional<NodeSet> subtract(const NodeSet& nodes, const NodeSet& others) const override;
  std::uint64_t count(const NodeSet& nodes) const override;

 private:
  /// A torus of these sizes, for absolute boxes.
  Topology topology() const;
  /// The root; on `axis`, if it is a line, only if that has a node so many hops from the root.
  Box rootWithChild(std::uint32_t axis, std::int32_t hops) const;
  void addWithoutRoot(const Box& box, NodeSet& nodes) const;

  const llvm::SmallVector<TreeAxis, kMaxAxes> axes_;
  const llvm::SmallVector<std::uint32_t, kMaxAxes> sizes_;
  const bool is_root_apart_;
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_TREES_ARC_BOXES_H_
