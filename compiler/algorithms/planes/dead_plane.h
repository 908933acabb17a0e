// The plane of a dead node: all nodes with its coordinate on one axis. Brings data of all nodes
// beside the plane, on both sides, to its live nodes, on otherwise unused links.
//
// With N axes there are 2N - 1 parts. The nodes of the plane get one part from below and one from
// above. Each of the other parts goes down one of the 2(N - 1) rectangular trees of the plane
// (trees/rectangular.cc), with the dead node as its root. The dead node has one child in each tree,
// and this child gets the tree's part from below instead. So the child cannot get the common part
// from below as other nodes do. It gets that part along the one tree without a part, in which its
// parent is not the dead node. So every link carries one part.
//
// On an axis of two nodes the dead node has the same child in both trees, so that only one is used.
#ifndef TORC_COMPILER_ALGORITHMS_PLANES_DEAD_PLANE_H_
#define TORC_COMPILER_ALGORITHMS_PLANES_DEAD_PLANE_H_

#include <cstdint>
#include <vector>

#include "compiler/algorithms/trees/arc_boxes.h"
#include "schedules/topology/topology.h"

namespace torc::compiler {

class DeadPlane {
 public:
  /// The plane of the one dead node of `topology`, a torus of rings, perpendicular to axis
  /// `across`.
  DeadPlane(const Topology& topology, std::uint32_t across);

  /// The largest possible number of parts.
  std::uint32_t mostParts() const;
  /// The messages of part number `part` of `parts` to nodes of the plane, in absolute boxes.
  Arcs arcs(std::uint32_t part, std::uint32_t parts) const;
  /// The length of the longest path from beside the plane to one of its nodes, in messages.
  std::uint32_t depth() const;

 private:
  struct Tree {
    std::uint32_t first = 0;  // index into axes_ of the first axis of its order
    int sign = 1;
    bool operator==(const Tree&) const = default;
  };
  /// The tree along which the root's child in `tree` gets the part that other nodes get from below;
  /// null if none after the first `used` trees suits.
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
  llvm::SmallVector<std::uint32_t, kMaxAxes> axes_;  // of the plane, with more than one node
  std::vector<Tree> trees_;                          // the most useful first
  std::size_t most_used_ = 0;
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_PLANES_DEAD_PLANE_H_
