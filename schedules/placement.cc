// Enumeration of the blocks of regions, and their offsets.
#include "schedules/placement.h"

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
      traits_(traits(schedule.collective)),
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
  if (traits_.layout == Layout::kPartMajor) {
    if (!counts_.per_rank.empty()) {
      return Status(StatusCode::kInvalidArgument,
                    std::string(traits_.name) + " takes one count, not one per rank");
    }
    if (counts_.count > kMaxElements) return overflow("the elements of the vector");
    total = end = counts_.count;
  } else if (uniform()) {
    if (counts_.count > kMaxElements / ranks) return overflow("the elements of all blocks");
    total = end = counts_.count * ranks;
    for (std::uint32_t part = 0; part < parts_.size(); ++part) {
      part_of_block_.push_back(parts_.extent(part, {0, counts_.count}));
    }
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
  const bool part_major = traits_.layout == Layout::kPartMajor;
  const std::uint64_t own = part_major ? total : blockCount(rank_);
  out_elements_ = traits_.out_whole ? end : own;
  in_elements_ = traits_.in_whole ? end : in_place_ ? out_elements_ : own;
  return {};
}

Status Placement::prepareFrames() {
  std::vector<std::uint64_t> slot_elements(schedule_.slot_count, 0);
  frames_.resize(schedule_.frames.size());
  std::vector<Extent> runs;
  for (std::size_t f = 0; f < frames_.size(); ++f) {
    const Frame& frame = schedule_.frames[f];
    PlacedFrame& placed = frames_[f];
    placed.ranges = resolve(schedule_.boxes[frame.box], schedule_.topology, at_);
    if (traits_.layout == Layout::kPartMajor) {
      runs.clear();
      appendPartMajor(frame.part, placed.ranges, runs);
      for (const Extent& run : runs)
        placed.elements += run.length;
    } else if (uniform()) {
      placed.elements =
          liveVolume(placed.ranges, schedule_.topology) * part_of_block_[frame.part].length;
    } else {
      makePrefix(frame.part, placed);
      placed.elements = placed.prefix.back();
    }
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
  if (buffer == Buffer::kIn) return traits_.in_whole || in_place_;
  return traits_.out_whole;
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

std::uint64_t Placement::blockElements(std::uint32_t part, const Coordinates& at) const {
  if (traits_.layout == Layout::kPartMajor) return partMajorBlock(part, at).length;
  const std::int32_t owner = schedule_.topology.rankOf(at);
  if (owner < 0) return 0;
  if (uniform()) return part_of_block_[part].length;
  return parts_.extent(part, {0, blockCount(owner)}).length;
}

void Placement::makePrefix(std::uint32_t part, PlacedFrame& frame) const {
  const Color& color = schedule_.colors[parts_.index(part).color];
  frame.prefix.reserve(volume(frame.ranges, schedule_.topology) + 1);
  std::uint64_t sum = 0;
  forEachBlock(schedule_.topology, color.order.data(), color.axis_count, frame.ranges,
               [&](const Coordinates& at) {
                 frame.prefix.push_back(sum);
                 sum += blockElements(part, at);
               });
  frame.prefix.push_back(sum);
}

std::uint64_t Placement::append(const Region& region, std::vector<Extent>& extents) {
  const std::size_t first = extents.size();
  const Ranges ranges = resolve(schedule_.boxes[region.box], schedule_.topology, at_);
  if (region.buffer == Buffer::kScratch) {
    appendScratch(region, ranges, extents);
  } else if (traits_.layout == Layout::kPartMajor) {
    appendPartMajor(region.part, ranges, extents);
  } else {
    appendBlockMajor(region.buffer, region.part, ranges, extents);
  }
  std::uint64_t elements = 0;
  for (std::size_t i = first; i < extents.size(); ++i)
    elements += extents[i].length;
  return elements;
}

void Placement::appendBlocks(const Region& region, std::vector<std::uint64_t>& elements) const {
  const Ranges ranges = resolve(schedule_.boxes[region.box], schedule_.topology, at_);
  const Color& color = schedule_.colors[parts_.index(region.part).color];
  forEachBlock(schedule_.topology, color.order.data(), color.axis_count, ranges,
               [&](const Coordinates& at) {
                 const std::uint64_t block = blockElements(region.part, at);
                 if (block > 0) elements.push_back(block);
               });
}

void Placement::appendPartMajor(std::uint32_t part, const Ranges& ranges,
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
  const std::size_t first = out.size();
  forEachBlock(topology, color.order.data(), depth, ranges, [&](const Coordinates& at) {
    Extent extent = whole;
    for (std::uint32_t level = 0; level < depth && extent.length > 0; ++level) {
      const std::uint32_t axis = color.order[level];
      extent = piece(extent, static_cast<std::uint64_t>(at[axis]), topology.axes[axis].size);
    }
    addExtent(extent, first, out);
  });
}

void Placement::appendBlockMajor(Buffer buffer, std::uint32_t part, const Ranges& ranges,
                                 std::vector<Extent>& out) const {
  const Color& color = schedule_.colors[parts_.index(part).color];
  const bool whole = isWhole(buffer);
  const std::size_t first = out.size();
  forEachBlock(schedule_.topology, color.order.data(), color.axis_count, ranges,
               [&](const Coordinates& at) {
                 const std::int32_t rank = schedule_.topology.rankOf(at);
                 if (rank < 0) return;  // the block of a dead node
                 const std::uint64_t offset = whole ? blockOffset(rank) : 0;
                 if (uniform()) {
                   const Extent& within = part_of_block_[part];
                   addExtent({offset + within.offset, within.length}, first, out);
                 } else {
                   addExtent(parts_.extent(part, {offset, blockCount(rank)}), first, out);
                 }
               });
}

void Placement::appendScratch(const Region& region, const Ranges& ranges,
                              std::vector<Extent>& out) {
  PlacedFrame& frame = frames_[region.frame];
  if (ranges == frame.ranges) {
    addExtent({frame.offset, frame.elements}, out.size(), out);
    return;
  }
  const Topology& topology = schedule_.topology;
  const Color& color = schedule_.colors[parts_.index(region.part).color];
  const bool equal_blocks =
      traits_.layout == Layout::kBlockMajor && uniform() && topology.dead_node_count == 0;
  if (!equal_blocks && frame.prefix.empty()) makePrefix(region.part, frame);

  // Behind the last axis on which region and frame differ, whole runs of blocks
  // are taken.
  std::uint32_t depth = color.axis_count;
  std::uint64_t run = 1;
  while (ranges[color.order[depth - 1]] == frame.ranges[color.order[depth - 1]]) {
    run *= ranges[color.order[depth - 1]].length;
    --depth;
  }
  const std::size_t first = out.size();
  forEachBlock(topology, color.order.data(), depth, ranges, [&](const Coordinates& at) {
    std::uint64_t index = 0;  // of the run's first block within the frame
    for (std::uint32_t level = 0; level < depth; ++level) {
      const std::uint32_t axis = color.order[level];
      const std::uint32_t size = topology.axes[axis].size;
      index = index * frame.ranges[axis].length +
              wrap(static_cast<std::int64_t>(at[axis]) - frame.ranges[axis].start, size);
    }
    index *= run;
    if (equal_blocks) {
      const std::uint64_t elements = part_of_block_[region.part].length;
      addExtent({frame.offset + index * elements, run * elements}, first, out);
    } else {
      addExtent(
          {frame.offset + frame.prefix[index], frame.prefix[index + run] - frame.prefix[index]},
          first, out);
    }
  });
}

}  // namespace torc
