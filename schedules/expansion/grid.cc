// Builds a minimal set of loops over the axes of a grid, cut at the gaps of dead blocks.
#include "schedules/expansion/grid.h"

namespace torc {

void ExtentWriter::add(const Extent& run) {
  if (run.length == 0) return;
  elements_ += run.length;
  if (extents_.size() > first_) {
    StridedExtent& last = extents_.back();
    if (last.loop_count == 0 && last.offset + last.length == run.offset) {
      last.length += run.length;
      return;
    }
  }
  extents_.push_back({run.offset, run.length});
}

void ExtentWriter::add(const Extent& run, std::span<const RunLoop> loops) {
  if (run.length == 0) return;
  std::array<RunLoop, kMaxLoops> kept;  // from the back: the fastest last
  std::size_t first = kMaxLoops;
  std::uint64_t length = run.length;
  for (std::size_t i = loops.size(); i-- > 0;) {
    const RunLoop& loop = loops[i];
    if (loop.repeat == 1) continue;
    if (first == kMaxLoops) {
      if (loop.stride == length && !loop.turns()) {  // the repetitions are contiguous
        length *= loop.repeat;
        continue;
      }
    } else if (RunLoop& inner = kept[first];
               !inner.turns() && loop.stride == inner.stride * inner.repeat) {
      inner.turn = loop.turn * inner.repeat;
      inner.back = loop.back;
      inner.repeat *= loop.repeat;
      continue;
    }
    kept[--first] = loop;
  }
  if (first == kMaxLoops) return add(Extent{run.offset, length});
  if (const RunLoop& only = kept[first]; first + 1 == kMaxLoops && only.stride == length) {
    add(Extent{run.offset, only.turn * length});
    const std::uint64_t behind = run.offset + only.turn * length - only.back;
    return add(Extent{behind, (only.repeat - only.turn) * length});
  }
  const std::span<const RunLoop> list = std::span(kept).subspan(first);
  extents_.push_back(
      {run.offset, length, addLoops(list, loops_), static_cast<std::uint32_t>(list.size())});
  elements_ += length * iterations(list);
}

void Grid::addGap(const Coordinates& at, std::uint32_t cores) {
  Gap& gap = gaps_[gap_count_++];
  gap.at = at;
  for (std::uint32_t axis = 0; axis < axes_.nodeAxes(); ++axis)
    gap.position += strides_[axis] * static_cast<std::uint32_t>(at[axis]);
  if (cores > 1) {
    gap.count = cores;
    gap.stride = strides_[axes_.nodeAxes() - 1];
  }
}

void Grid::append(const Blocks& blocks, const BlockRanges& ranges, ExtentWriter& out) const {
  if (blocks.within.length == 0) return;
  // Lowest and highest position: those of two corners.
  std::uint64_t low = 0, high = 0;
  for (const std::uint8_t axis : blocks.order) {
    const std::uint32_t last = ranges[axis].start + ranges[axis].length - 1;
    const std::uint32_t size = axes_.size(axis);
    low += strides_[axis] * (last < size ? ranges[axis].start : 0);
    high += strides_[axis] * (last < size ? last : size - 1);
  }
  const Gap* inside = nullptr;
  std::uint64_t before = 0;
  for (const Gap& gap : std::span(gaps_).first(gap_count_)) {
    before += gap.countBelow(low);
    if (gap.countBelow(high + 1) > gap.countBelow(low)) inside = &gap;
  }
  if (inside == nullptr) return appendRegular(blocks, before, ranges, out);

  // Cuts the slowest axis around the gap, or into single coordinates, and processes the pieces.
  for (const std::uint8_t axis : blocks.order) {
    const Range range = ranges[axis];
    if (range.length == 1) continue;
    const std::uint32_t size = axes_.size(axis);
    BlockRanges piece = ranges;
    const auto appendPiece = [&](std::uint32_t from, std::uint32_t length) {
      if (length == 0) return;
      piece[axis] = {(range.start + from) % size, length};
      append(blocks, piece, out);
    };
    const std::uint32_t ahead =
        wrap(std::int64_t{inside->at[axis]} - std::int64_t{range.start}, size);
    if (const std::uint32_t before_end = size - range.start; before_end < range.length) {
      appendPiece(0, before_end);
      appendPiece(before_end, range.length - before_end);
    } else if (ahead < range.length && inside->count == 1) {
      appendPiece(0, ahead);
      appendPiece(ahead, 1);
      appendPiece(ahead + 1, range.length - ahead - 1);
    } else {
      for (std::uint32_t i = 0; i < range.length; ++i)
        appendPiece(i, 1);
    }
    return;
  }
  // a single block, which is the gap
}

void Grid::appendRegular(const Blocks& blocks, std::uint64_t gaps_before, const BlockRanges& ranges,
                         ExtentWriter& out) const {
  std::array<RunLoop, kMaxLoops> loops;
  std::size_t count = 0;
  std::uint64_t offset = blocks.base + blocks.within.offset - gaps_before * blocks.block;
  for (const std::uint8_t axis : blocks.order) {
    const Range& range = ranges[axis];
    const std::uint32_t size = axes_.size(axis);
    const std::uint64_t stride = strides_[axis] * blocks.block;
    offset += stride * range.start;
    const std::uint32_t to_end = size - range.start;
    const bool turns = to_end < range.length;
    loops[count++] = {stride, turns ? stride * size : 0, range.length,
                      turns ? to_end : range.length};
  }
  out.add({offset, blocks.within.length}, std::span(loops).first(count));
}

}  // namespace torc
