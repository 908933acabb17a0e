// The plane of a dead node: all nodes that have its coordinate on one axis. How those alive get
// what all nodes beside the plane, on both sides, have; on links that nobody else uses there.
//
// With N axes there are 2N - 1 parts. The nodes of the plane get one of them from below and one
// from above. Each of the others goes down one of the 2(N - 1) rectangular trees of the plane
// (trees/rectangular.cc), with the dead node as their root: it has one child in each, which gets
// the part from below in its place. What that child does not get from below then it gets along the
// one tree that no part needs, in which its parent is another node than the dead one. So every link
// carries one part.
//
// On an axis of two nodes the dead node has the same child in both trees, and one of them serves.
#ifndef TORC_COMPILER_ALGORITHMS_PLANES_DEAD_PLANE_H_
#define TORC_COMPILER_ALGORITHMS_PLANES_DEAD_PLANE_H_

#include <cstdint>
#include <vector>

#include "compiler/algorithms/trees/arc_boxes.h"
#include "schedules/topology/topology.h"

namespace torc::compiler {

class DeadPlane {
 public:
  /// Of the one dead node of `topology`, whose axes are rings; across axis `across`.
  DeadPlane(const Topology& topology, std::uint32_t across);

  /// How many parts there can be at most.
  std::uint32_t mostParts() const;
  /// The messages of part number `part` of `parts` to nodes of the plane, in absolute boxes.
  Arcs arcs(std::uint32_t part, std::uint32_t parts) const;
  /// The most messages from beside the plane to one of its nodes.
  std::uint32_t depth() const;

 private:
  struct Tree {
    std::uint32_t first = 0;  // index into axes_ of the first axis of its order
    int sign = 1;
    bool operator==(const Tree&) const = default;
  };
  /// The tree along which the root's child in `tree` gets what it does not get from below; null if
  /// none of those behind the first `used` can be.
  const Tree* spare(const Tree& tree, std::size_t used) const;
  std::uint32_t axisOf(const Tree& tree, std::uint32_t m) const {
    return axes_[(tree.first + m) % axes_.size()];
  }
  std::uint32_t size(std::uint32_t axis) const { return topology_.axes[axis].size; }
  /// `box` with coordinates from `first` to `last` steps by `sign` from the dead node.
  Box with(Box box, std::uint32_t axis, int sign, std::uint32_t first, std::uint32_t last) const;
  /// The dead node's child in `tree`.
  Box childOf(const Tree& tree) const;
  std::vector<Box> withoutChildren(std::size_t used) const;
  void addTree(const Tree& tree, Arcs& arcs) const;
  void add(std::uint32_t axis, int sign, const Box& children, Arcs& arcs) const;

  const Topology topology_;
  const Coordinates dead_;
  const std::uint32_t across_;
  llvm::SmallVector<std::uint32_t, kMaxAxes> axes_;  // of the plane, of more than one node
  std::vector<Tree> trees_;                          // those that serve best first
  std::size_t most_used_ = 0;
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_PLANES_DEAD_PLANE_H_
