// Block axes: the axes that index the blocks of a vector. Blocks of nodes have the axes of the
// torus; blocks of pairs have the axes of their source, then those of their destination. A box of
// blocks has one cyclic range per block axis.
#ifndef TORC_SCHEDULES_BLOCK_AXES_H_
#define TORC_SCHEDULES_BLOCK_AXES_H_

#include <array>
#include <cstdint>

#include "schedules/box.h"
#include "schedules/collective.h"
#include "schedules/topology/topology.h"

namespace torc {

inline constexpr std::uint32_t kMaxBlockAxes = 2 * kMaxAxes;

/// A box of blocks, as absolute ranges.
using BlockRanges = std::array<Range, kMaxBlockAxes>;
/// Coordinates of one block; unused axes are 0.
using BlockCoordinates = std::array<std::int32_t, kMaxBlockAxes>;

class BlockAxes {
 public:
  BlockAxes(const Topology& topology, BlockSpace space)
      : node_axes_(topology.axis_count), ends_(space == BlockSpace::kPair ? 2 : 1) {
    for (std::uint32_t axis = 0; axis < count(); ++axis)
      sizes_[axis] = topology.axes[nodeAxis(axis)].size;
  }

  std::uint32_t count() const { return ends_ * node_axes_; }
  std::uint32_t size(std::uint32_t axis) const { return sizes_[axis]; }
  /// The axis of the torus that a block axis belongs to.
  std::uint32_t nodeAxis(std::uint32_t axis) const {
    return axis < node_axes_ ? axis : axis - node_axes_;
  }
  /// Axes of the torus.
  std::uint32_t nodeAxes() const { return node_axes_; }
  /// Nodes that a block belongs to: 2 where it has a source and a destination.
  std::uint32_t ends() const { return ends_; }

  /// The nodes of `blocks`: their owners, or their sources (`end` 0) or destinations (1).
  Ranges nodesOf(const BlockRanges& blocks, std::uint32_t end = 0) const {
    Ranges nodes{};
    for (std::uint32_t axis = 0; axis < node_axes_; ++axis)
      nodes[axis] = blocks[end * node_axes_ + axis];
    return nodes;
  }
  Coordinates nodeOf(const BlockCoordinates& block, std::uint32_t end = 0) const {
    Coordinates node{};
    for (std::uint32_t axis = 0; axis < node_axes_; ++axis)
      node[axis] = block[end * node_axes_ + axis];
    return node;
  }
  /// The block of a node, where blocks have one.
  BlockCoordinates blockOf(const Coordinates& owner) const {
    BlockCoordinates block{};
    for (std::uint32_t axis = 0; axis < node_axes_; ++axis)
      block[axis] = owner[axis];
    return block;
  }
  BlockRanges all() const {
    BlockRanges blocks{};
    for (std::uint32_t axis = 0; axis < count(); ++axis)
      blocks[axis] = {0, sizes_[axis]};
    return blocks;
  }

 private:
  std::uint32_t node_axes_;
  std::uint32_t ends_;
  std::array<std::uint32_t, kMaxBlockAxes> sizes_{};
};

/// Number of blocks in a box.
inline std::uint64_t volume(const BlockRanges& blocks, const BlockAxes& axes) {
  std::uint64_t product = 1;
  for (std::uint32_t axis = 0; axis < axes.count(); ++axis)
    product *= blocks[axis].length;
  return product;
}
/// Number of blocks in a box without those of dead nodes; a pair is dead with either of its nodes.
inline std::uint64_t liveVolume(const BlockRanges& blocks, const BlockAxes& axes,
                                const Topology& topology) {
  std::uint64_t product = 1;
  for (std::uint32_t end = 0; end < axes.ends(); ++end)
    product *= liveVolume(axes.nodesOf(blocks, end), topology);
  return product;
}

}  // namespace torc

#endif  // TORC_SCHEDULES_BLOCK_AXES_H_
