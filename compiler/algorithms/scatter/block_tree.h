// The tree of a color of scatter-trees as steps (scatter_trees.cc describes the tree).
#ifndef TORC_COMPILER_ALGORITHMS_SCATTER_BLOCK_TREE_H_
#define TORC_COMPILER_ALGORITHMS_SCATTER_BLOCK_TREE_H_

#include <array>
#include <cstdint>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include "ir/step_builder.h"

namespace torc::compiler {

/// A message along an axis from or to the node at distance `parent` from the root, with the blocks
/// of the `count` nodes from distance `child` on.
struct LineEdge {
  std::uint32_t parent = 0, child = 0, count = 1;
  bool operator==(const LineEdge&) const = default;
};

/// The binomial tree of the `nodes` nodes next to the root in one direction of a ring of `size`,
/// the farthest child of a node first. No message goes half of the ring: networks may route it in
/// the other direction.
std::vector<LineEdge> lineTree(std::uint32_t nodes, std::uint32_t size);

/// The tree of a color. The phases of a scatter are its levels 0, 1, ... up to the number of axes;
/// a gather has the same phases in reverse.
class BlockTree {
 public:
  /// `order`: the axes of more than one node, the color's own first. `builder` outlives the tree.
  BlockTree(ir::StepBuilder& builder, std::uint32_t part, llvm::ArrayRef<std::uint32_t> order,
            int sign)
      : builder_(builder),
        topology_(builder.schedule().topology),
        part_(part),
        order_(order.begin(), order.end()),
        sign_(sign) {}

  /// Appends the steps of the blocks along axis number `level` of the order; after the last axis,
  /// the steps between the last plane and the root's.
  void scatter(std::uint32_t level);
  void gather(std::uint32_t level);

 private:
  using Indices = llvm::SmallVector<std::uint32_t, 8>;

  /// Data that moves: the blocks of the planes of the line's nodes, or those of the root's plane,
  /// which the last of these nodes forwards.
  enum class Load { kPlanes, kRest };

  /// Nodes that have a load after some axes, with axis number `level` of the color's order as their
  /// last step.
  struct Holder {
    Box nodes;
    std::uint32_t level = 0;
  };
  /// Nodes that an axis reaches in one direction, and the messages between them.
  struct Arm {
    int sign = 1;
    std::vector<LineEdge> edges;
  };
  /// The place of a load after the axes up to some level.
  struct Held {
    Region region;
    std::uint32_t frame = kNone;  // of blocks forwarded along the axis
    Indices ready;                // scatter: its writers; gather: its dependences
    bool is_made = false;
  };

  std::uint32_t levels() const { return static_cast<std::uint32_t>(order_.size()); }
  std::uint32_t last() const { return levels() - 1; }
  std::uint32_t size(std::uint32_t level) const { return topology_.axes[order_[level]].size; }
  bool hasRest() const { return levels() > 1; }

  /// The nodes at distance `first` to `last` from the root along an axis, in direction `sign`.
  Interval away(std::uint32_t level, int sign, std::uint32_t first, std::uint32_t last) const;
  /// All coordinates but the root's.
  Interval others(std::uint32_t level) const { return away(level, 1, 1, size(level) - 1); }
  std::array<Arm, 2> arms(std::uint32_t level) const;
  Box lineOf(Load load) const;
  Box atLevel(Load load, std::uint32_t level, const Interval& along) const;
  llvm::SmallVector<Holder, 8> holders(Load load, std::uint32_t level) const;
  Box blocksOf(Load load, std::uint32_t level, const Interval& along) const;
  Box blocksOf(Load load, std::uint32_t level, const Holder& holder, const Interval& along) const;
  llvm::SmallVector<Box, 4> restBlocks() const;
  Box root() const;
  Box own() const;

  std::uint32_t guard(const Box& box) { return box == Box{} ? kNone : builder_.box(box); }
  Region region(Buffer buffer, llvm::ArrayRef<Box> blocks, std::uint32_t frame = kNone);
  Region newFrame(llvm::ArrayRef<Box> blocks);
  Region passing(Load load, std::uint32_t level, const Interval& along);
  /// The same blocks at their place within `held`.
  Region inside(const Region& held, llvm::ArrayRef<Box> blocks) {
    return region(held.buffer, blocks, held.frame);
  }
  Held& held(Load load, std::uint32_t level);
  std::uint32_t newStream() { return builder_.addStream({part_, 0}); }
  ir::StepPlace at(Load load, std::uint32_t level, const Interval& along, std::uint32_t stream) {
    return {stream, guard(atLevel(load, level, along))};
  }
  bool isLast(Load load, std::uint32_t level) const {
    return load == Load::kPlanes && level == last();
  }

  void scatterAlong(Load load, std::uint32_t level, std::uint32_t stream);
  void scatterRest();
  void gatherAlong(Load load, std::uint32_t level, std::uint32_t stream);
  void gatherRest();
  void copyOwn(std::uint32_t level);

  /// The last sends over the links along an axis (in a gather, receives of holders).
  struct Link {
    Indices passed;                            // of forwarding nodes
    std::vector<std::array<Indices, 2>> held;  // of each holder, along each arm
  };

  ir::StepBuilder& builder_;
  const Topology& topology_;
  const std::uint32_t part_;
  const std::vector<std::uint32_t> order_;  // axes of more than one node, the color's own first
  const int sign_;
  std::vector<Held> planes_ = std::vector<Held>(order_.size());
  std::vector<Held> rest_ = std::vector<Held>(order_.size());
  Link link_;  // of the current axis
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_SCATTER_BLOCK_TREE_H_
