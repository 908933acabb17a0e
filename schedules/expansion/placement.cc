// Enumeration of the blocks of regions, and their offsets.
#include "schedules/expansion/placement.h"

#include <algorithm>
#include <limits>
#include <string>

namespace torc {
namespace {

constexpr std::uint64_t kMaxElements = std::numeric_limits<std::int64_t>::max();

/// Adds `extent`, joined to the last one of this region (from index `first`)
/// where they touch.
void addExtent(const Extent& extent, std::size_t first, std::vector<Extent>& out) {
  if (extent.length == 0) return;
  if (out.size() > first && out.back().offset + out.back().length == extent.offset) {
    out.back().length += extent.length;
  } else {
    out.push_back(extent);
  }
}

/// Calls `visit(coordinates)` for every block of `ranges`, the axes of `order`
/// nested, the first slowest, each from its start around.
template <typename Visit>
void forEachBlock(const Topology& topology, const std::uint8_t* order, std::uint32_t depth,
                  const Ranges& ranges, Visit visit) {
  std::array<std::uint32_t, kMaxAxes> step{};
  Coordinates at{};
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    at[i] = static_cast<std::int32_t>(ranges[i].start);
  }
  while (true) {
    visit(at);
    std::uint32_t level = depth;
    while (level > 0) {
      const std::uint32_t axis = order[level - 1];
      if (++step[level - 1] < ranges[axis].length) {
        at[axis] =
            at[axis] + 1 == static_cast<std::int32_t>(topology.axes[axis].size) ? 0 : at[axis] + 1;
        break;
      }
      step[level - 1] = 0;
      at[axis] = static_cast<std::int32_t>(ranges[axis].start);
      --level;
    }
    if (level == 0) return;
  }
}

Status overflow(const std::string& what) {
  return Status(StatusCode::kOverflow, what + " do not fit 63 bits");
}

}  // namespace

Placement::Placement(const ScheduleView& schedule, std::int32_t rank, const Counts& counts,
                     bool in_place)
    : schedule_(schedule),
      counts_(counts),
      rank_(rank),
      in_place_(in_place),
      row_(rowOf(schedule.collective)),
      at_(schedule.topology.coordinatesOf(rank)),
      parts_(schedule) {}

Status Placement::prepare() {
  if (Status status = prepareBlocks(); !status.ok()) return status;
  return prepareFrames();
}

Status Placement::prepareBlocks() {
  const std::uint64_t ranks = schedule_.topology.ranks();
  std::uint64_t total = 0;  // elements of the whole vector
  std::uint64_t end = 0;    // of its last block
  if (row_.layout == Layout::kPartMajor) {
    if (!counts_.per_rank.empty()) {
      return Status(StatusCode::kInvalidArgument,
                    std::string(row_.name) + " takes one count, not one per rank");
    }
    if (counts_.count > kMaxElements) return overflow("the elements of the vector");
    total = end = counts_.count;
  } else if (uniform()) {
    if (counts_.count > kMaxElements / ranks) return overflow("the elements of all blocks");
    total = end = counts_.count * ranks;
  } else {
    if (counts_.per_rank.size() != ranks ||
        (!counts_.displacements.empty() && counts_.displacements.size() != ranks)) {
      return Status(StatusCode::kMismatch, "counts for " + std::to_string(counts_.per_rank.size()) +
                                               " ranks, schedule has " + std::to_string(ranks));
    }
    const bool packed = counts_.displacements.empty();
    if (packed) displacements_.reserve(ranks);
    for (std::uint64_t r = 0; r < ranks; ++r) {
      if (packed) displacements_.push_back(total);
      const std::uint64_t count = counts_.per_rank[r];
      const std::uint64_t offset = packed ? total : counts_.displacements[r];
      if (count > kMaxElements - total || offset > kMaxElements || count > kMaxElements - offset) {
        return overflow("the elements of all blocks");
      }
      total += count;
      if (count > 0) end = std::max(end, offset + count);
    }
  }
  const bool part_major = row_.layout == Layout::kPartMajor;
  const std::uint64_t own = part_major ? total : blockCount(rank_);
  out_elements_ = row_.outWhole() ? end : own;
  in_elements_ = row_.inWhole() ? end : in_place_ ? out_elements_ : own;
  return {};
}

Status Placement::prepareFrames() {
  std::vector<std::uint64_t> slot_elements(schedule_.slot_count, 0);
  frames_.resize(schedule_.frames.size());
  for (std::size_t f = 0; f < frames_.size(); ++f) {
    const Frame& frame = schedule_.frames[f];
    PlacedFrame& placed = frames_[f];
    forEachRun(frame, [&](std::uint32_t part, std::uint32_t parts, const Ranges& ranges) {
      placePiece(placed, {.part = part, .parts = parts, .ranges = ranges});
    });
    slot_elements[frame.slot] = std::max(slot_elements[frame.slot], placed.elements);
  }
  std::vector<std::uint64_t> slot_offset(schedule_.slot_count, 0);
  for (std::size_t s = 0; s < slot_elements.size(); ++s) {
    slot_offset[s] = scratch_elements_;
    if (slot_elements[s] > kMaxElements - scratch_elements_) {
      return overflow("the elements of scratch");
    }
    scratch_elements_ += slot_elements[s];
  }
  for (std::size_t f = 0; f < frames_.size(); ++f) {
    frames_[f].offset = slot_offset[schedule_.frames[f].slot];
  }
  return {};
}

std::uint64_t Placement::blockCount(std::int32_t rank) const {
  return uniform() ? counts_.count : counts_.per_rank[rank];
}

std::uint64_t Placement::blockOffset(std::int32_t rank) const {
  if (uniform()) return static_cast<std::uint64_t>(rank) * counts_.count;
  return displacements_.empty() ? counts_.displacements[rank] : displacements_[rank];
}

bool Placement::isWhole(Buffer buffer) const {
  if (buffer == Buffer::kIn) return row_.inWhole() || in_place_;
  return row_.outWhole();
}

Extent Placement::partMajorBlock(std::uint32_t part, const Coordinates& at) const {
  const Color& color = schedule_.colors[parts_.index(part).color];
  Extent extent = parts_.extent(part, {0, counts_.count});
  for (std::uint32_t level = 0; level < color.axis_count; ++level) {
    const std::uint32_t axis = color.order[level];
    extent =
        piece(extent, static_cast<std::uint64_t>(at[axis]), schedule_.topology.axes[axis].size);
  }
  return extent;
}

std::uint64_t Placement::blockElements(const PlacedPiece& piece, const Coordinates& at) const {
  if (row_.layout == Layout::kPartMajor) return partMajorBlock(piece.part, at).length;
  const std::int32_t owner = schedule_.topology.rankOf(at);
  if (owner < 0) return 0;
  return parts_.extent(piece.part, piece.parts, {0, blockCount(owner)}).length;
}

/// Lays `piece` out behind the pieces that `frame` has.
void Placement::placePiece(PlacedFrame& frame, PlacedPiece piece) {
  piece.offset = frame.elements;
  if (row_.layout == Layout::kPartMajor) {
    std::vector<Extent> runs;
    appendPartMajor(piece.part, piece.ranges, 0, runs);
    for (const Extent& run : runs)
      piece.elements += run.length;
  } else if (uniform()) {
    piece.elements = liveVolume(piece.ranges, schedule_.topology) *
                     parts_.extent(piece.part, piece.parts, {0, counts_.count}).length;
  } else {
    makePrefix(piece);
    piece.elements = piece.prefix.back();
  }
  frame.elements += piece.elements;
  frame.pieces.push_back(std::move(piece));
}

void Placement::makePrefix(PlacedPiece& piece) const {
  const Color& color = schedule_.colors[parts_.index(piece.part).color];
  piece.prefix.reserve(volume(piece.ranges, schedule_.topology) + 1);
  std::uint64_t sum = 0;
  forEachBlock(schedule_.topology, color.order.data(), color.axis_count, piece.ranges,
               [&](const Coordinates& at) {
                 piece.prefix.push_back(sum);
                 sum += blockElements(piece, at);
               });
  piece.prefix.push_back(sum);
}

template <typename Blocks, typename Visit>
void Placement::forEachRun(const Blocks& blocks, Visit visit) const {
  for (const Piece& piece : schedule_.piecesOf(blocks)) {
    const Ranges ranges = resolve(schedule_.boxes[piece.box], schedule_.topology, at_);
    if (row_.layout == Layout::kBlockMajor) {
      visit(piece.part, piece.parts, ranges);
    } else {
      for (std::uint32_t i = 0; i < piece.parts; ++i)
        visit(piece.part + i, 1u, ranges);
    }
  }
}

std::uint64_t Placement::append(const Region& region, std::vector<Extent>& extents) {
  const std::size_t first = extents.size();
  forEachRun(region, [&](std::uint32_t part, std::uint32_t parts, const Ranges& ranges) {
    if (region.buffer == Buffer::kScratch) {
      appendScratch(region.frame, part, parts, ranges, first, extents);
    } else if (row_.layout == Layout::kPartMajor) {
      appendPartMajor(part, ranges, first, extents);
    } else {
      appendBlockMajor(region.buffer, part, parts, ranges, first, extents);
    }
  });
  std::uint64_t elements = 0;
  for (std::size_t i = first; i < extents.size(); ++i)
    elements += extents[i].length;
  return elements;
}

void Placement::appendBlocks(const Region& region, std::vector<std::uint64_t>& elements) const {
  forEachRun(region, [&](std::uint32_t part, std::uint32_t parts, const Ranges& ranges) {
    const Color& color = schedule_.colors[parts_.index(part).color];
    const PlacedPiece piece{.part = part, .parts = parts};
    forEachBlock(schedule_.topology, color.order.data(), color.axis_count, ranges,
                 [&](const Coordinates& at) {
                   const std::uint64_t block = blockElements(piece, at);
                   if (block > 0) elements.push_back(block);
                 });
  });
}

void Placement::appendPartMajor(std::uint32_t part, const Ranges& ranges, std::size_t first,
                                std::vector<Extent>& out) const {
  const Color& color = schedule_.colors[parts_.index(part).color];
  const Topology& topology = schedule_.topology;
  const Extent whole = parts_.extent(part, {0, counts_.count});
  // Axes behind the last one that is restricted add nothing: their blocks
  // follow one another.
  std::uint32_t depth = color.axis_count;
  while (depth > 0 &&
         ranges[color.order[depth - 1]].length == topology.axes[color.order[depth - 1]].size) {
    --depth;
  }
  forEachBlock(topology, color.order.data(), depth, ranges, [&](const Coordinates& at) {
    Extent extent = whole;
    for (std::uint32_t level = 0; level < depth && extent.length > 0; ++level) {
      const std::uint32_t axis = color.order[level];
      extent = piece(extent, static_cast<std::uint64_t>(at[axis]), topology.axes[axis].size);
    }
    addExtent(extent, first, out);
  });
}

void Placement::appendBlockMajor(Buffer buffer, std::uint32_t part, std::uint32_t parts,
                                 const Ranges& ranges, std::size_t first,
                                 std::vector<Extent>& out) const {
  const Color& color = schedule_.colors[parts_.index(part).color];
  const bool whole = isWhole(buffer);
  const Extent within = parts_.extent(part, parts, {0, counts_.count});  // where blocks are uniform
  forEachBlock(schedule_.topology, color.order.data(), color.axis_count, ranges,
               [&](const Coordinates& at) {
                 const std::int32_t rank = schedule_.topology.rankOf(at);
                 if (rank < 0) return;  // the block of a dead node
                 const std::uint64_t offset = whole ? blockOffset(rank) : 0;
                 if (uniform()) {
                   addExtent({offset + within.offset, within.length}, first, out);
                 } else {
                   addExtent(parts_.extent(part, parts, {offset, blockCount(rank)}), first, out);
                 }
               });
}

void Placement::appendScratch(std::uint32_t frame_index, std::uint32_t part, std::uint32_t parts,
                              const Ranges& ranges, std::size_t first, std::vector<Extent>& out) {
  const Topology& topology = schedule_.topology;
  PlacedFrame& frame = frames_[frame_index];
  // One of the frame's pieces has them all. Mostly it is the next one.
  auto holds = [&](const PlacedPiece& piece) {
    if (part < piece.part || part + parts > piece.part + piece.parts) return false;
    for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
      const std::uint32_t size = topology.axes[axis].size;
      const std::uint32_t ahead =
          wrap(std::int64_t{ranges[axis].start} - piece.ranges[axis].start, size);
      if (piece.ranges[axis].length < size &&
          std::uint64_t{ahead} + ranges[axis].length > piece.ranges[axis].length) {
        return false;
      }
    }
    return true;
  };
  while (!holds(frame.pieces[frame.last]))
    frame.last = frame.last + 1 < frame.pieces.size() ? frame.last + 1 : 0;
  PlacedPiece& piece = frame.pieces[frame.last];
  const std::uint64_t base = frame.offset + piece.offset;
  const bool all_parts = parts == piece.parts;
  if (all_parts && ranges == piece.ranges) {
    addExtent({base, piece.elements}, first, out);
    return;
  }
  const Color& color = schedule_.colors[parts_.index(part).color];
  const bool equal_blocks =
      row_.layout == Layout::kBlockMajor && uniform() && topology.dead_node_count == 0;
  if (!equal_blocks && piece.prefix.empty()) makePrefix(piece);

  // Behind the last axis on which region and piece differ, whole runs of blocks are taken, if all
  // parts are.
  std::uint32_t depth = color.axis_count;
  std::uint64_t run = 1;
  while (all_parts && ranges[color.order[depth - 1]] == piece.ranges[color.order[depth - 1]]) {
    run *= ranges[color.order[depth - 1]].length;
    --depth;
  }
  const std::uint64_t block = parts_.extent(piece.part, piece.parts, {0, counts_.count}).length;
  forEachBlock(topology, color.order.data(), depth, ranges, [&](const Coordinates& at) {
    std::uint64_t index = 0;  // of the run's first block within the piece
    for (std::uint32_t level = 0; level < depth; ++level) {
      const std::uint32_t axis = color.order[level];
      const std::uint32_t size = topology.axes[axis].size;
      index = index * piece.ranges[axis].length +
              wrap(static_cast<std::int64_t>(at[axis]) - piece.ranges[axis].start, size);
    }
    index *= run;
    Extent extent;
    if (equal_blocks) {
      extent = {base + index * block, run * block};
    } else {
      extent = {base + piece.prefix[index], piece.prefix[index + run] - piece.prefix[index]};
    }
    if (!all_parts && extent.length > 0) {
      const Extent all{0, blockCount(topology.rankOf(at))};
      const Extent some = parts_.extent(part, parts, all);
      extent = {extent.offset + some.offset - parts_.extent(piece.part, all).offset, some.length};
    }
    addExtent(extent, first, out);
  });
}

}  // namespace torc
