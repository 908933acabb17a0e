// Where the blocks of regions lie: by loops where they are alike, else one by one.
#include "schedules/expansion/placement.h"

#include <algorithm>
#include <string>

#include "support/message.h"

namespace torc {
namespace {

/// Calls `visit(coordinates)` for every block of `ranges`, the axes of `order`
/// nested, the first slowest, each from its start around.
template <typename Visit>
void forEachBlock(const BlockAxes& axes, std::span<const std::uint8_t> order, std::uint32_t depth,
                  const BlockRanges& ranges, Visit visit) {
  std::array<std::uint32_t, kMaxBlockAxes> step{};
  BlockCoordinates at{};
  for (std::uint32_t i = 0; i < axes.count(); ++i) {
    at[i] = static_cast<std::int32_t>(ranges[i].start);
  }
  while (true) {
    visit(at);
    std::uint32_t level = depth;
    while (level > 0) {
      const std::uint32_t axis = order[level - 1];
      if (++step[level - 1] < ranges[axis].length) {
        at[axis] = at[axis] + 1 == static_cast<std::int32_t>(axes.size(axis)) ? 0 : at[axis] + 1;
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

Placement::Placement(const RootedSchedule& rooted, std::int32_t rank, const Counts& counts,
                     bool in_place)
    : rooted_(rooted),
      schedule_(rooted.view()),
      counts_(counts),
      rank_(rank),
      in_place_(in_place),
      row_(rowOf(schedule_.collective)),
      axes_(schedule_.blockAxes()),
      at_(rooted.coordinatesOf(rank)),
      parts_(schedule_),
      in_sites_(axes_),
      out_sites_(axes_),
      search_(schedule_),
      blocks_(counts.count, counts.per_rank, counts.displacements),
      in_blocks_(counts.count, counts.in_per_rank, counts.in_displacements) {
  for (const Color& color : schedule_.colors) {
    auto& order = orders_.emplace_back();
    for (std::uint32_t i = 0; i < axes_.count(); ++i) {
      const std::uint32_t end = i / axes_.nodeAxes();
      order[i] = static_cast<std::uint8_t>(color.order[i - end * axes_.nodeAxes()] +
                                           end * axes_.nodeAxes());
    }
  }
  layGrid(axes_.ends() - 1, in_sites_);
  layGrid(0, out_sites_);
}

/// Blocks lie as the ranks of one of their ends count.
void Placement::layGrid(std::uint32_t end, Grid& grid) const {
  const Topology& topology = schedule_.topology;
  std::uint64_t positions = 1;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    grid.setStride(end * axes_.nodeAxes() + topology.order[i], positions);
    positions *= topology.axes[topology.order[i]].size;
  }
  if (axes_.ends() == 2) return;
  const std::uint32_t cores = topology.hasCores() ? topology.axes[topology.axis_count - 1].size : 1;
  for (const Coordinates& dead : topology.deadNodes())
    grid.addGap(dead, cores);
}

Status Placement::prepare() {
  if (Status status = prepareBlocks(); !status.ok()) return status;
  return prepareFrames();
}

Status Placement::prepareBlocks() {
  const bool at_root = rank_ == rooted_.root();
  std::uint64_t whole = 0,
                own = 0;  // elements of all blocks, to the end of the last, and of the own
  if (row_.layout == Layout::kPartMajor) {
    if (!counts_.per_rank.empty()) {
      return Status(StatusCode::kInvalidArgument,
                    std::string(row_.name) + " takes one count, not one per rank");
    }
    if (counts_.count > kMaxElements) return overflow("the elements of the vector");
    whole = own = counts_.count;
  } else {
    if (Status status = blocks_.prepare(schedule_.topology.ranks()); !status.ok()) return status;
    if (axes_.ends() == 2) return preparePairs();
    whole = blocks_.end();
    own = blocks_.countOf(rank_);
  }
  const auto elements = [&](Holds holds) {
    return holds == Holds::kWhole ? whole : holds == Holds::kOwn ? own : 0;
  };
  in_elements_ = elements(row_.inAt(at_root));
  out_elements_ = elements(row_.outAt(at_root));
  if (in_place_) in_elements_ = out_elements_ = std::max(in_elements_, out_elements_);
  return {};
}

/// What a rank is told of are the blocks that it sends and those that it receives.
Status Placement::preparePairs() {
  if (Status status = in_blocks_.prepare(schedule_.topology.ranks()); !status.ok()) return status;
  if (blocks_.alike() != in_blocks_.alike()) {
    return {StatusCode::kMismatch,
            "one count for the blocks of `in` or `out`, one per rank for the other"};
  }
  if (!uniform() && counts_.passing == nullptr) {
    if (Status status = checkServesLists(schedule_); !status.ok()) return status;
  }
  const std::uint64_t sent = in_blocks_.countOf(rank_), received = blocks_.countOf(rank_);
  if (sent != received) {
    return {StatusCode::kMismatch,
            message("the own block has ", sent, " elements in `in`, ", received, " in `out`")};
  }
  in_elements_ = in_blocks_.end();
  out_elements_ = blocks_.end();
  return {};
}

void Placement::setSegment(std::uint32_t segment) {
  if (schedule_.segments == 1) return;
  segment_ = segment;
  prefixes_.clear();
  part_offsets_.clear();
  (void)measureFrames();  // prepareFrames has seen that nothing overflows
  const std::uint64_t copy = segment % schedule_.window * window_elements_;
  for (std::size_t f = 0; f < frame_offsets_.size(); ++f)
    frame_offsets_[f] = copy + slot_offsets_[schedule_.frames[f].slot];
}

/// The elements of all frames in the current segment.
Status Placement::measureFrames() {
  // The pieces that are in frames have marks between +1 and -1.
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
    if (elements > kMaxElements) return overflow("the elements of a frame");
    frame_elements_[f] = static_cast<std::uint64_t>(elements);
  }
  return {};
}

/// Lays the slots out: each as large as its largest frame in any segment, all of them as often as
/// the window has copies.
Status Placement::prepareFrames() {
  if (schedule_.frames.empty()) return {};
  std::vector<std::uint64_t> slot_elements(schedule_.slot_count, 0);
  for (segment_ = 0; segment_ < schedule_.segments; ++segment_) {
    if (Status status = measureFrames(); !status.ok()) return status;
    for (std::size_t f = 0; f < frame_elements_.size(); ++f) {
      std::uint64_t& slot = slot_elements[schedule_.frames[f].slot];
      slot = std::max(slot, frame_elements_[f]);
    }
  }
  segment_ = 0;
  for (const std::uint64_t elements : slot_elements) {
    slot_offsets_.push_back(window_elements_);
    if (elements > kMaxElements / schedule_.window - window_elements_) {
      return overflow("the elements of scratch");
    }
    window_elements_ += elements;
  }
  scratch_elements_ = window_elements_ * std::min(schedule_.window, schedule_.segments);
  frame_offsets_.resize(schedule_.frames.size());
  for (std::size_t f = 0; f < frame_offsets_.size(); ++f)
    frame_offsets_[f] = slot_offsets_[schedule_.frames[f].slot];
  return {};
}

/// What `parts` parts from `part` on have in the current segment of `whole`.
Extent Placement::partsOf(std::uint32_t part, std::uint32_t parts, const Extent& whole) const {
  const Extent of_parts = parts_.extent(part, parts, whole);
  return schedule_.segments == 1 ? of_parts : shareOf(of_parts, segment_, schedule_.segments);
}

bool Placement::isWhole(Buffer buffer) const {
  return in_place_ || (buffer == Buffer::kIn ? row_.inWhole() : row_.outWhole());
}

std::uint32_t Placement::restrictedDepth(std::uint32_t part, const BlockRanges& ranges) const {
  const std::span<const std::uint8_t> order = orderOf(part);
  std::uint32_t depth = axes_.count();
  while (depth > 0 && ranges[order[depth - 1]].length == axes_.size(order[depth - 1]))
    --depth;
  return depth;
}

Extent Placement::partMajorBlock(Extent extent, std::uint32_t part, const BlockCoordinates& at,
                                 std::uint32_t depth) const {
  const std::span<const std::uint8_t> order = orderOf(part);
  for (std::uint32_t level = 0; level < depth && extent.length > 0; ++level) {
    const std::uint32_t axis = order[level];
    extent = shareOf(extent, static_cast<std::uint64_t>(at[axis]), axes_.size(axis));
  }
  return extent;
}

std::uint64_t Placement::blockCount(const BlockCoordinates& at) const {
  const std::int32_t owner = rooted_.rankOf(axes_.nodeOf(at));
  if (owner < 0) return 0;
  if (axes_.ends() == 1) return blocks_.countOf(owner);
  const std::int32_t destination = rooted_.rankOf(axes_.nodeOf(at, 1));
  if (destination < 0) return 0;
  if (owner == rank_) return in_blocks_.countOf(destination);
  if (destination == rank_ || uniform()) return blocks_.countOf(owner);
  return counts_.passing != nullptr ? counts_.passing->countOf(owner, destination) : 0;
}

std::uint64_t Placement::blockElements(const Run& run, const BlockCoordinates& at,
                                       std::uint32_t depth) const {
  if (row_.layout == Layout::kPartMajor) {
    const Extent whole = partsOf(run.part, 1, {0, counts_.count});
    return partMajorBlock(whole, run.part, at, depth).length;
  }
  return partsOf(run.part, run.parts, {0, blockCount(at)}).length;
}

std::uint64_t Placement::elementsOf(const Run& run) const {
  if (row_.layout == Layout::kPartMajor) {
    std::vector<StridedExtent> extents;
    std::vector<RunLoop> loops;
    ExtentWriter writer(extents, loops);
    appendPartMajor(run, writer);
    return writer.elements();
  }
  if (uniform()) {
    return liveVolume(run.ranges, axes_, schedule_.topology) *
           partsOf(run.part, run.parts, {0, counts_.count}).length;
  }
  std::uint64_t elements = 0;
  forEachBlock(
      axes_, orderOf(run.part), axes_.count(), run.ranges,
      [&](const BlockCoordinates& at) { elements += blockElements(run, at, axes_.count()); });
  return elements;
}

/// The prefix of what lies at `place`, `run`, by `depth` axes at least.
const Placement::Prefix& Placement::prefixOf(std::uint64_t place, const Run& run,
                                             std::uint32_t depth) {
  Prefix& prefix = prefixes_[place];
  if (!prefix.before.empty() && prefix.depth >= depth) return prefix;
  prefix.depth = depth;
  prefix.before.clear();
  std::uint64_t sum = 0;
  forEachBlock(axes_, orderOf(run.part), depth, run.ranges, [&](const BlockCoordinates& at) {
    prefix.before.push_back(sum);
    sum += blockElements(run, at, depth);
  });
  prefix.before.push_back(sum);
  return prefix;
}

/// Elements of the parts before `part` in piece number `piece`, which is `outer`, of a part-major
/// collective.
std::uint64_t Placement::partOffset(std::uint32_t piece, const Run& outer, std::uint32_t part) {
  if (part == outer.part) return 0;
  std::vector<std::uint64_t>& offsets = part_offsets_[piece];
  if (offsets.empty()) {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < outer.parts; ++i) {
      offsets.push_back(sum);
      sum += elementsOf({outer.part + i, 1, outer.ranges});
    }
  }
  return offsets[part - outer.part];
}

template <typename Visit>
void Placement::forEachRun(const Piece& piece, Visit visit) const {
  Run run{piece.part, piece.parts, schedule_.blocksOf(piece.box, at_, peer_at_)};
  if (row_.layout == Layout::kBlockMajor) return visit(run);
  run.parts = 1;
  for (; run.part < piece.part + piece.parts; ++run.part)
    visit(run);
}

std::uint64_t Placement::append(const Region& region, const Ranges& guard,
                                std::vector<StridedExtent>& extents, std::vector<RunLoop>& loops) {
  ExtentWriter writer(extents, loops);
  if (region.buffer == Buffer::kScratch) {
    appendScratch(region, guard, writer);
    return writer.elements();
  }
  for (const Piece& piece : schedule_.piecesOf(region)) {
    forEachRun(piece, [&](const Run& run) {
      if (row_.layout == Layout::kPartMajor) {
        appendPartMajor(run, writer);
      } else {
        appendBlockMajor(region.buffer, run, writer);
      }
    });
  }
  return writer.elements();
}

std::uint64_t Placement::blocksOf(const Region& region) const {
  std::uint64_t blocks = 0;
  for (const Piece& piece : schedule_.piecesOf(region)) {
    forEachRun(piece, [&](const Run& run) {
      if (partsOf(run.part, run.parts, {0, counts_.count}).length > 0) {
        blocks += liveVolume(run.ranges, axes_, schedule_.topology);
      }
    });
  }
  return blocks;
}

void Placement::appendBlocks(const Region& region, std::vector<std::uint64_t>& elements) const {
  for (const Piece& piece : schedule_.piecesOf(region)) {
    forEachRun(piece, [&](const Run& run) {
      forEachBlock(axes_, orderOf(run.part), axes_.count(), run.ranges,
                   [&](const BlockCoordinates& at) {
                     const std::uint64_t block = blockElements(run, at, axes_.count());
                     if (block > 0) elements.push_back(block);
                   });
    });
  }
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

void Placement::appendPartMajor(const Run& run, ExtentWriter& out) const {
  const std::span<const std::uint8_t> order = orderOf(run.part);
  const Extent whole = partsOf(run.part, 1, {0, counts_.count});
  // Axes behind the last one that is restricted add nothing: their blocks follow one another.
  const std::uint32_t depth = restrictedDepth(run.part, run.ranges);
  if (depth == 0) return out.add(whole);
  std::uint64_t blocks = 1, rows = 1;
  for (std::uint32_t level = 0; level < depth; ++level) {
    blocks *= axes_.size(order[level]);
    if (level + 1 < depth) rows *= run.ranges[order[level]].length;
  }
  if (rows > 1 && whole.length % blocks == 0) {
    Grid grid(axes_);
    std::uint64_t positions = blocks;
    for (std::uint32_t level = 0; level < depth; ++level) {
      positions /= axes_.size(order[level]);
      grid.setStride(order[level], positions);
    }
    const std::uint64_t block = whole.length / blocks;
    grid.append(
        {.order = order.first(depth), .base = whole.offset, .block = block, .within = {0, block}},
        run.ranges, out);
    return;
  }
  // One row, or blocks that differ in size: those in a row on the last axis follow one another.
  const std::uint32_t last = order[depth - 1];
  const std::uint32_t size = axes_.size(last);
  const Range& row = run.ranges[last];
  const std::uint32_t to_end = std::min(row.length, size - row.start);
  forEachBlock(axes_, order, depth - 1, run.ranges, [&](const BlockCoordinates& at) {
    const Extent rows = partMajorBlock(whole, run.part, at, depth - 1);
    const std::uint64_t begin = share(rows.length, row.start, size);
    out.add({rows.offset + begin, share(rows.length, row.start + to_end, size) - begin});
    out.add({rows.offset, share(rows.length, row.length - to_end, size)});
  });
}

/// `ranges` as the torus counts, not the schedule.
BlockRanges Placement::rangesOfSites(BlockRanges ranges) const {
  for (std::uint32_t axis = 0; axis < axes_.nodeAxes(); ++axis) {
    ranges[axis].start =
        wrap(std::int64_t{ranges[axis].start} + rooted_.origin()[axis], axes_.size(axis));
  }
  return ranges;
}

void Placement::appendBlockMajor(Buffer buffer, const Run& run, ExtentWriter& out) const {
  if (axes_.ends() == 1 && !isWhole(buffer)) {  // the own block
    return out.add(partsOf(run.part, run.parts, {0, blocks_.countOf(rank_)}));
  }
  const std::span<const std::uint8_t> order = orderOf(run.part);
  // Of pairs, the blocks from or to the own node lie as the ranks at their other end count.
  const bool sent = axes_.ends() == 2 && buffer == Buffer::kIn;
  const BlockPlaces& blocks = sent ? in_blocks_ : blocks_;
  const bool gaps_of_pairs = axes_.ends() == 2 && schedule_.topology.dead_node_count > 0;
  if (blocks.inRow() && !gaps_of_pairs) {
    const Grid& sites = buffer == Buffer::kIn ? in_sites_ : out_sites_;
    return sites.append({.order = order,
                         .base = 0,
                         .block = counts_.count,
                         .within = partsOf(run.part, run.parts, {0, counts_.count})},
                        rangesOfSites(run.ranges), out);
  }
  forEachBlock(axes_, order, axes_.count(), run.ranges, [&](const BlockCoordinates& at) {
    const std::int32_t rank = rooted_.rankOf(axes_.nodeOf(at, sent ? 1 : 0));
    if (rank < 0) return;  // the block of a dead node
    out.add(partsOf(run.part, run.parts, {blocks.offsetOf(rank), blocks.countOf(rank)}));
  });
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

/// Appends the blocks and parts `inner` of `outer`, which is packed at `base`; `place` is the key
/// of its prefix.
void Placement::appendInside(const Run& inner, const Run& outer, std::uint64_t place,
                             std::uint64_t base, ExtentWriter& out) {
  const Topology& topology = schedule_.topology;
  // Parts in a row may be of several colors: what is packed has the order of the first, what is
  // taken its own.
  const std::span<const std::uint8_t> order = orderOf(inner.part);
  const std::span<const std::uint8_t> packed = orderOf(outer.part);
  const bool all_parts = inner.parts == outer.parts;
  if (all_parts && inner.ranges == outer.ranges) return out.add({base, elementsOf(inner)});

  // Blocks that differ only on axes behind `depth`, where the two are equal, follow one another.
  std::uint32_t depth = axes_.count();
  while (all_parts && inner.ranges[order[depth - 1]] == outer.ranges[order[depth - 1]])
    --depth;
  BlockRanges ranges = inner.ranges;  // as counted within `outer`
  for (std::uint32_t axis = 0; axis < axes_.count(); ++axis) {
    ranges[axis].start =
        wrap(std::int64_t{inner.ranges[axis].start} - outer.ranges[axis].start, axes_.size(axis));
  }
  const bool part_major = row_.layout == Layout::kPartMajor;
  const bool gaps_of_pairs = axes_.ends() == 2 && topology.dead_node_count > 0;
  if (!part_major && uniform() && !gaps_of_pairs) {
    const Extent all = partsOf(outer.part, outer.parts, {0, counts_.count});
    const Extent some = partsOf(inner.part, inner.parts, {0, counts_.count});
    Grid grid(axes_);
    std::uint64_t positions = 1;
    for (std::uint32_t level = axes_.count(); level-- > 0;) {
      grid.setStride(packed[level], positions);
      positions *= outer.ranges[packed[level]].length;
    }
    const auto dimensions = static_cast<std::uint32_t>(topology.dimensions());
    for (Coordinates dead : topology.deadNodes()) {
      bool inside = true;
      for (std::uint32_t axis = 0; axis < dimensions && inside; ++axis) {
        const Range& range = outer.ranges[axis];
        const std::uint32_t ahead =
            wrap(std::int64_t{dead[axis]} - range.start, topology.axes[axis].size);
        dead[axis] = static_cast<std::int32_t>(ahead);
        inside = ahead < range.length;
      }
      if (inside) grid.addGap(dead, topology.hasCores() ? outer.ranges[dimensions].length : 1);
    }
    return grid.append({.order = order,
                        .base = base,
                        .block = all.length,
                        .within = {some.offset - all.offset, some.length}},
                       ranges, out);
  }
  if (part_major) {
    std::uint64_t sites = 1, blocks = 1;
    for (std::uint32_t level = 0; level < depth; ++level) {
      sites *= axes_.size(order[level]);
      blocks *= outer.ranges[order[level]].length;
    }
    if (partsOf(outer.part, 1, {0, counts_.count}).length % sites == 0) {
      Grid grid(axes_);
      std::uint64_t positions = blocks;
      for (std::uint32_t level = 0; level < depth; ++level) {
        positions /= outer.ranges[order[level]].length;
        grid.setStride(order[level], positions);
      }
      const std::uint64_t block = elementsOf(outer) / blocks;
      return grid.append(
          {.order = order.first(depth), .base = base, .block = block, .within = {0, block}}, ranges,
          out);
    }
  }

  const std::uint32_t least =
      part_major ? std::max(depth, restrictedDepth(outer.part, outer.ranges)) : axes_.count();
  const Prefix& prefix = prefixOf(place, outer, least);
  std::uint64_t run = 1;
  for (std::uint32_t level = depth; level < prefix.depth; ++level)
    run *= outer.ranges[order[level]].length;
  forEachBlock(axes_, order, depth, inner.ranges, [&](const BlockCoordinates& at) {
    std::uint64_t index = 0;  // of the run's first block within the piece
    for (std::uint32_t level = 0; level < depth; ++level) {
      const std::uint32_t axis = packed[level];
      index =
          index * outer.ranges[axis].length +
          wrap(static_cast<std::int64_t>(at[axis]) - outer.ranges[axis].start, axes_.size(axis));
    }
    index *= run;
    Extent extent = {base + prefix.before[index],
                     prefix.before[index + run] - prefix.before[index]};
    if (!all_parts && extent.length > 0) {
      const Extent all{0, blockCount(at)};
      const Extent some = partsOf(inner.part, inner.parts, all);
      extent = {extent.offset + some.offset - partsOf(outer.part, 1, all).offset, some.length};
    }
    out.add(extent);
  });
}

}  // namespace torc
