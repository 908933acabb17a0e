// Grid: blocks of equal size at equal distances along every axis, as strided extents. Dead blocks
// take no place: later blocks move up.
#ifndef TORC_SCHEDULES_EXPANSION_GRID_H_
#define TORC_SCHEDULES_EXPANSION_GRID_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "schedules/block_axes.h"
#include "schedules/expansion/shares.h"
#include "schedules/expansion/strided.h"

namespace torc {

/// Collects the extents of one region at the end of a program's tables.
class ExtentWriter {
 public:
  /// The tables must outlive the writer.
  ExtentWriter(std::vector<StridedExtent>& extents, std::vector<RunLoop>& loops)
      : extents_(extents), loops_(loops), first_(extents.size()) {}

  /// Appends a run, joined to the last one of this region if they touch.
  void add(const Extent& run);
  /// Appends `run` repeated by `loops`, the first slowest, with the fewest loops. Loops of one
  /// iteration are allowed.
  void add(const Extent& run, std::span<const RunLoop> loops);

  /// Elements appended so far.
  std::uint64_t elements() const { return elements_; }

 private:
  std::vector<StridedExtent>& extents_;
  std::vector<RunLoop>& loops_;
  std::size_t first_;
  std::uint64_t elements_ = 0;
};

class Grid {
 public:
  explicit Grid(const BlockAxes& axes) : axes_(axes) {}

  /// Positions between neighbours along `axis`; the default 0 suits an axis that every block spans.
  void setStride(std::uint32_t axis, std::uint64_t positions) { strides_[axis] = positions; }
  /// Lets the axes of `order` nest, the first slowest, each with `lengthOf(axis)` positions;
  /// returns the positions of all.
  template <typename Length>
  std::uint64_t nest(std::span<const std::uint8_t> order, Length lengthOf) {
    std::uint64_t positions = 1;
    for (std::size_t level = order.size(); level-- > 0;) {
      setStride(order[level], positions);
      positions *= lengthOf(order[level]);
    }
    return positions;
  }
  /// Removes the place of the block at `at` and, if nodes have cores, of the `cores` - 1 blocks
  /// that follow on their axis. At most kMaxDeadNodes calls, after all strides are set; for blocks
  /// of nodes only.
  void addGap(const Coordinates& at, std::uint32_t cores);

  /// The axes of the blocks, the slowest first, and their layout: the block at position 0 starts at
  /// `base` and has `block` elements, of which the extent `within` is taken.
  struct Blocks {
    std::span<const std::uint8_t> order;
    std::uint64_t base = 0;
    std::uint64_t block = 0;
    Extent within;
  };
  /// Appends every block of `ranges`.
  void append(const Blocks& blocks, const BlockRanges& ranges, ExtentWriter& out) const;

 private:
  /// Consecutive blocks without a place, equally far apart.
  struct Gap {
    Coordinates at{};
    std::uint64_t position = 0;
    std::uint64_t count = 1;
    std::uint64_t stride = 1;

    std::uint64_t countBelow(std::uint64_t end) const {
      return end <= position ? 0 : std::min(count, (end - position - 1) / stride + 1);
    }
  };

  void appendRegular(const Blocks& blocks, std::uint64_t gaps_before, const BlockRanges& ranges,
                     ExtentWriter& out) const;

  BlockAxes axes_;
  std::array<std::uint64_t, kMaxBlockAxes> strides_{};
  std::array<Gap, kMaxDeadNodes> gaps_{};
  std::uint32_t gap_count_ = 0;
};

}  // namespace torc

#endif  // TORC_SCHEDULES_EXPANSION_GRID_H_
