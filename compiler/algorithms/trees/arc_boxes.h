// The arcs of trees in boxes of nodes, for any root.
#ifndef TORC_COMPILER_ALGORITHMS_TREES_ARC_BOXES_H_
#define TORC_COMPILER_ALGORITHMS_TREES_ARC_BOXES_H_

#include <array>
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

/// Messages of a tree by `hops` along `axis`, from `parents` to `children`, for any root.
struct ArcBoxes {
  std::uint32_t axis = 0;
  std::int32_t hops = 1;
  NodeSet children, parents;
};

/// The arcs of one tree, those with the deepest subtrees first: a node sends in their order, and
/// adds sums in the opposite order. Sets of children are disjoint, and so are the sets of parents
/// with the same axis and hops.
using Arcs = std::vector<ArcBoxes>;

/// The nodes of arcs, including the root.
class ArcNodes {
 public:
  virtual ~ArcNodes() = default;

  /// The root alone.
  virtual Box root() const = 0;
  /// All nodes, for the roots of the arcs.
  virtual Box everyone() const { return {}; }
  /// Whether the root has separate steps; otherwise, after it has copied its data, it acts like
  /// other nodes.
  virtual bool isRootApart() const { return true; }
  /// Whether messages may be dropped: a node then receives and adds in one operation.
  virtual bool mayDrop() const { return false; }
  /// Whether some node is in both boxes; std::nullopt if this is unknown.
  virtual std::optional<bool> meet(const Box&, const Box&) const { return std::nullopt; }
  /// `nodes` without the root, if that has separate steps.
  virtual NodeSet withoutRoot(const NodeSet& nodes) const { return nodes; }
  /// The root if it has separate steps, restricted to roots that are parents of an arc.
  virtual std::optional<Box> rootAmong(const ArcBoxes&) const { return std::nullopt; }
  /// `nodes` without `others`; std::nullopt if this is unknown.
  virtual std::optional<NodeSet> subtract(const NodeSet&, const NodeSet&) const {
    return std::nullopt;
  }
  /// Number of nodes; 0 if it is unimportant.
  virtual std::uint64_t count(const NodeSet&) const { return 0; }
};

/// The nodes of a damaged torus for some roots, in guards with coordinates of the machine. The root
/// has no separate steps.
class RootGuards : public ArcNodes {
 public:
  /// Whether there are such guards: something is dead, nodes have no cores, no axis is too long.
  static bool suit(const Topology& topology);
  /// For the roots of a box of absolute intervals. `topology` outlives it.
  explicit RootGuards(const Topology& topology, const Box& roots = {});

  Box root() const override;
  bool isRootApart() const override { return false; }
  Box everyone() const override { return absolute({}); }
  /// The guard of a box of absolute intervals; of intervals that count from the root, or are
  /// root-relative on lines.
  Box absolute(const Box& box) const;
  Box fromRoot(const Box& box) const;

 protected:
  std::uint32_t size(std::uint32_t axis) const { return topology_.axes[axis].size; }
  const Topology& topology_;
  std::array<RootSpan, kMaxAxes> roots_;  // only `from` and `to` are set

 private:
  Box guard(const Box& box, bool from_root) const;
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
  /// A torus with these sizes, for absolute boxes.
  Topology topology() const;
  /// The root; if `axis` is a line, only roots with a node at `hops` on it.
  Box rootWithChild(std::uint32_t axis, std::int32_t hops) const;
  void addWithoutRoot(const Box& box, NodeSet& nodes) const;

  const llvm::SmallVector<TreeAxis, kMaxAxes> axes_;
  const llvm::SmallVector<std::uint32_t, kMaxAxes> sizes_;
  const bool is_root_apart_;
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_TREES_ARC_BOXES_H_
