// Assigns frames to scratch, and locates regions inside frames.
#include <algorithm>

#include "schedules/expansion/placement.h"

namespace torc {

void Placement::setSegment(std::uint32_t segment) {
  if (schedule_.segments == 1) return;
  segment_ = segment;
  prefixes_.clear();
  part_offsets_.clear();
  measureFrames();
  const std::uint64_t copy = segment % schedule_.window * window_elements_;
  for (std::size_t f = 0; f < frame_offsets_.size(); ++f)
    frame_offsets_[f] = copy + slot_offsets_[schedule_.frames[f].slot];
}

/// Computes the elements of all frames in the current segment.
void Placement::measureFrames() {
  // Marks +1 and -1 begin and end the ranges of pieces that are in frames.
  std::vector<std::int64_t> marks;
  for (const Frame& frame : schedule_.frames) {
    if (frame.pieces == 0) continue;
    marks.resize(schedule_.pieces.size() + 1);
    ++marks[frame.box];
    --marks[frame.box + frame.pieces];
  }
  if (!marks.empty()) {
    piece_offsets_.resize(marks.size());
    std::int64_t frames = 0;
    for (std::size_t i = 0; i < schedule_.pieces.size(); ++i) {
      frames += marks[i];
      piece_offsets_[i + 1] = piece_offsets_[i];
      if (frames == 0) continue;
      forEachRun(schedule_.pieces[i],
                 [&](const Run& run) { piece_offsets_[i + 1] += elementsOf(run); });
    }
  }

  frame_elements_.resize(schedule_.frames.size());
  for (std::size_t f = 0; f < frame_elements_.size(); ++f) {
    const Frame& frame = schedule_.frames[f];
    unsigned __int128 elements = 0;
    if (frame.pieces > 0) {
      elements = piece_offsets_[frame.box + frame.pieces] - piece_offsets_[frame.box];
    } else {
      forEachRun(Piece{frame.part, 1, frame.box},
                 [&](const Run& run) { elements = elementsOf(run); });
    }
    if (elements > kMaxElements) throw tooManyElements("of a frame");
    frame_elements_[f] = static_cast<std::uint64_t>(elements);
  }
}

/// Assigns offsets to slots: each is as large as its largest frame in any segment, and the whole is
/// repeated for every copy in the window.
void Placement::prepareFrames() {
  if (schedule_.frames.empty()) return;
  std::vector<std::uint64_t> slot_elements(schedule_.slot_count, 0);
  for (segment_ = 0; segment_ < schedule_.segments; ++segment_) {
    measureFrames();
    for (std::size_t f = 0; f < frame_elements_.size(); ++f) {
      std::uint64_t& slot = slot_elements[schedule_.frames[f].slot];
      slot = std::max(slot, frame_elements_[f]);
    }
  }
  segment_ = 0;
  for (const std::uint64_t elements : slot_elements) {
    slot_offsets_.push_back(window_elements_);
    if (elements > kMaxElements / schedule_.window - window_elements_)
      throw tooManyElements("of scratch");
    window_elements_ += elements;
  }
  scratch_elements_ = window_elements_ * std::min(schedule_.window, schedule_.segments);
  frame_offsets_.resize(schedule_.frames.size());
  for (std::size_t f = 0; f < frame_offsets_.size(); ++f)
    frame_offsets_[f] = slot_offsets_[schedule_.frames[f].slot];
}

void Placement::visitFrames(
    const std::function<void(std::int32_t, std::int32_t, std::uint64_t)>& visit) const {
  for (std::size_t f = 0; f < schedule_.frames.size(); ++f) {
    std::uint64_t element = frame_offsets_[f];
    for (const Piece& piece : schedule_.piecesOf(schedule_.frames[f])) {
      forEachRun(piece, [&](const Run& run) {
        forEachBlock(
            axes_, orderOf(run.part), axes_.count(), run.ranges, [&](const BlockCoordinates& at) {
              const std::uint64_t block = blockElements(run, at, axes_.count());
              if (block == 0) return;
              visit(rooted_.rankOf(axes_.nodeOf(at)), rooted_.rankOf(axes_.nodeOf(at, 1)), element);
              element += block;
            });
      });
    }
  }
}

void Placement::appendScratch(const Region& region, const Ranges& guard, ExtentWriter& out) {
  const Frame& frame = schedule_.frames[region.frame];
  const std::uint64_t base = frame_offsets_[region.frame];
  if (region.pieces == frame.pieces && region.part == frame.part && region.box == frame.box) {
    return out.add({base, frame_elements_[region.frame]});
  }
  const PieceList list = schedule_.piecesOf(frame);
  std::size_t next = 0;
  for (const Piece& piece : schedule_.piecesOf(region)) {
    const std::size_t number = search_.find(guard, frame, piece, next);
    next = number + 1;
    const Piece& around = list[number];
    const Run outer{around.part, around.parts, schedule_.blocksOf(around.box, at_)};
    std::uint64_t offset = base;
    std::uint64_t place = region.frame;
    if (frame.pieces > 0) {
      const std::size_t index = frame.box + number;
      offset += static_cast<std::uint64_t>(piece_offsets_[index] - piece_offsets_[frame.box]);
      place = (std::uint64_t{1} << 63) | (std::uint64_t{index} << 20);  // room for kMaxParts
    }
    forEachRun(piece, [&](const Run& inner) {
      if (row_.layout == Layout::kBlockMajor) return appendInside(inner, outer, place, offset, out);
      const auto index = static_cast<std::uint32_t>(frame.box + number);
      appendInside(inner, {inner.part, 1, outer.ranges}, place + (inner.part - outer.part),
                   offset + partOffset(index, outer, inner.part), out);
    });
  }
}

/// Appends the blocks and parts `inner` of `outer`, packed at `base`; `place` is the key of its
/// prefix.
void Placement::appendInside(const Run& inner, const Run& outer, std::uint64_t place,
                             std::uint64_t base, ExtentWriter& out) {
  const bool all_parts = inner.parts == outer.parts;
  if (all_parts && inner.ranges == outer.ranges) return out.add({base, elementsOf(inner)});

  Inside inside{inner, outer, base, all_parts, axes_.count(), inner.ranges};
  const std::span<const std::uint8_t> order = orderOf(inner.part);
  const auto isWholeOn = [&](std::uint8_t axis) {
    return inner.ranges[axis] == outer.ranges[axis];
  };
  while (all_parts && isWholeOn(order[inside.depth - 1]))
    --inside.depth;
  for (std::uint32_t axis = 0; axis < axes_.count(); ++axis)
    inside.ranges[axis].start = stepsInto(outer, axis, inner.ranges[axis].start);

  if (row_.layout == Layout::kPartMajor) {
    const Extent part = partsOf(outer.part, 1, {0, counts_.count});
    if (part.length % sitesOf(order.first(inside.depth)) == 0) return appendEqualRows(inside, out);
  } else if (uniform() && !hasGapsOfPairs()) {
    return appendEqualBlocks(inside, out);
  }
  appendByPrefix(inside, place, out);
}

/// Distance of coordinate `at` from the begin of `outer` on an axis.
std::uint32_t Placement::stepsInto(const Run& outer, std::uint32_t axis, std::int64_t at) const {
  return wrap(at - outer.ranges[axis].start, axes_.size(axis));
}

/// Of a part whose blocks are alike up to `depth` axes: a grid of them.
void Placement::appendEqualRows(const Inside& inside, ExtentWriter& out) const {
  const Run& outer = inside.outer;
  const std::span<const std::uint8_t> order = orderOf(outer.part).first(inside.depth);
  Grid grid(axes_);
  const std::uint64_t rows =
      grid.nest(order, [&](std::uint8_t axis) { return outer.ranges[axis].length; });
  const std::uint64_t row = elementsOf(outer) / rows;
  grid.append({.order = order, .base = inside.base, .block = row, .within = {0, row}},
              inside.ranges, out);
}

/// Of whole blocks of equal size: a grid of them, each restricted to the inner parts. Consecutive
/// parts may have several colors: the packed run has the order of the first color, the subset its
/// own.
void Placement::appendEqualBlocks(const Inside& inside, ExtentWriter& out) const {
  const Run &inner = inside.inner, &outer = inside.outer;
  const Extent all = partsOf(outer.part, outer.parts, {0, counts_.count});
  const Extent some = partsOf(inner.part, inner.parts, {0, counts_.count});
  Grid grid(axes_);
  grid.nest(orderOf(outer.part), [&](std::uint8_t axis) { return outer.ranges[axis].length; });
  const Topology& topology = schedule_.topology;
  const auto dimensions = static_cast<std::uint32_t>(topology.dimensions());
  for (Coordinates dead : topology.deadNodes()) {
    bool is_inside = true;
    for (std::uint32_t axis = 0; axis < dimensions && is_inside; ++axis) {
      const std::uint32_t steps = stepsInto(outer, axis, dead[axis]);
      dead[axis] = static_cast<std::int32_t>(steps);
      is_inside = steps < outer.ranges[axis].length;
    }
    if (is_inside) grid.addGap(dead, topology.hasCores() ? outer.ranges[dimensions].length : 1);
  }
  grid.append({.order = orderOf(inner.part),
               .base = inside.base,
               .block = all.length,
               .within = {some.offset - all.offset, some.length}},
              inside.ranges, out);
}

/// Of unequal blocks: one contiguous row at a time, at the offset from the prefix.
void Placement::appendByPrefix(const Inside& inside, std::uint64_t place, ExtentWriter& out) {
  const Run &inner = inside.inner, &outer = inside.outer;
  const std::uint64_t base = inside.base;
  const std::uint32_t depth = inside.depth;
  const std::span<const std::uint8_t> order = orderOf(inner.part);
  const std::span<const std::uint8_t> packed = orderOf(outer.part);
  const Prefix& prefix = prefixOf(place, outer,
                                  row_.layout == Layout::kPartMajor
                                      ? std::max(depth, restrictedDepth(outer.part, outer.ranges))
                                      : axes_.count());
  std::uint64_t row = 1;
  for (std::uint32_t level = depth; level < prefix.depth; ++level)
    row *= outer.ranges[order[level]].length;
  forEachBlock(axes_, order, depth, inner.ranges, [&](const BlockCoordinates& at) {
    std::uint64_t first = 0;  // block of the row in the order of `outer`
    for (const std::uint8_t axis : packed.first(depth))
      first = first * outer.ranges[axis].length + stepsInto(outer, axis, at[axis]);
    first *= row;
    const std::uint64_t begin = prefix.before[first], length = prefix.before[first + row] - begin;
    if (inside.all_parts || length == 0) return out.add({base + begin, length});
    const Extent block{0, blockCount(at)};
    const Extent some = partsOf(inner.part, inner.parts, block);
    out.add({base + begin + some.offset - partsOf(outer.part, 1, block).offset, some.length});
  });
}

}  // namespace torc
