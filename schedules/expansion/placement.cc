// Finds the elements of blocks of `in` and `out`: by loops if the blocks are alike, else one by
// one.
#include "schedules/expansion/placement.h"

#include <algorithm>

#include "schedules/faults/reject.h"
#include "schedules/neighbours.h"
#include "support/message.h"

namespace torc {

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

/// Blocks are in the order of the ranks at one of their ends.
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
  return statusOf([&] {
    prepareBlocks();
    prepareFrames();
  });
}

void Placement::prepareBlocks() {
  if (row_.isOfNeighbours()) return prepareNeighbours();
  const bool at_root = rank_ == rooted_.root();
  // Elements of all blocks, to the end of the last, and of the own block.
  std::uint64_t whole = counts_.count, own = whole;
  if (row_.layout == Layout::kPartMajor) {
    if (!counts_.per_rank.empty()) {
      throw Status(StatusCode::kInvalidArgument,
                   message(row_.name, " takes one count, not one per rank"));
    }
    if (whole > kMaxElements) throw tooManyElements("of the vector");
  } else {
    orReject(blocks_.prepare(schedule_.topology.ranks()));
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
}

/// A rank knows the counts of the blocks that it sends and of those that it receives.
void Placement::preparePairs() {
  orReject(in_blocks_.prepare(schedule_.topology.ranks()));
  if (blocks_.alike() != in_blocks_.alike()) {
    throw Status(StatusCode::kMismatch,
                 "one count for the blocks of `in` or `out`, one per rank for the other");
  }
  if (!uniform() && counts_.passing == nullptr) orReject(checkServesLists(schedule_));
  const std::uint64_t sent = in_blocks_.countOf(rank_), received = blocks_.countOf(rank_);
  if (sent != received) {
    throw Status(StatusCode::kMismatch,
                 message("the own block has ", sent, " elements in `in`, ", received, " in `out`"));
  }
  in_elements_ = in_blocks_.end();
  out_elements_ = blocks_.end();
}

/// A rank knows the counts of the blocks for its neighbours (or one for all) and of those from
/// them.
void Placement::prepareNeighbours() {
  const std::uint64_t neighbours = 2 * axes_.nodeAxes();
  orReject(in_blocks_.prepare(sendsOneBlock() ? 1 : neighbours, "neighbours"));
  orReject(blocks_.prepare(neighbours, "neighbours"));
  in_elements_ = in_blocks_.end();
  out_elements_ = blocks_.end();
}

/// The extent of `parts` parts from `part` on in the current segment of `whole`.
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

/// The prefix of the run at `place`, by `depth` axes at least.
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

std::uint64_t Placement::elementsOf(const Region& region, std::uint32_t segment) {
  segment_ = segment;
  std::uint64_t elements = 0;
  for (const Piece& piece : schedule_.piecesOf(region))
    forEachRun(piece, [&](const Run& run) { elements += elementsOf(run); });
  return elements;
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

std::uint64_t Placement::sitesOf(std::span<const std::uint8_t> order) const {
  std::uint64_t sites = 1;
  for (const std::uint8_t axis : order)
    sites *= axes_.size(axis);
  return sites;
}

void Placement::appendPartMajor(const Run& run, ExtentWriter& out) const {
  const Extent whole = partsOf(run.part, 1, {0, counts_.count});
  // Axes behind the last restricted one add nothing: their blocks are contiguous.
  const std::uint32_t depth = restrictedDepth(run.part, run.ranges);
  if (depth == 0) return out.add(whole);
  const std::span<const std::uint8_t> order = orderOf(run.part).first(depth);
  const std::span<const std::uint8_t> rows = order.first(depth - 1);
  const std::uint64_t sites = sitesOf(order);
  if (whole.length % sites == 0 && std::any_of(rows.begin(), rows.end(), [&](std::uint8_t axis) {
        return run.ranges[axis].length > 1;
      })) {
    Grid grid(axes_);
    grid.nest(order, [&](std::uint8_t axis) { return axes_.size(axis); });
    const std::uint64_t block = whole.length / sites;
    return grid.append({.order = order, .base = whole.offset, .block = block, .within = {0, block}},
                       run.ranges, out);
  }
  // One row, or blocks that differ in size: those in a row on the last axis are contiguous.
  const std::uint32_t size = axes_.size(order.back());
  const Range& row = run.ranges[order.back()];
  const std::uint32_t to_end = std::min(row.length, size - row.start);
  forEachBlock(axes_, order, depth - 1, run.ranges, [&](const BlockCoordinates& at) {
    const Extent blocks = partMajorBlock(whole, run.part, at, depth - 1);
    const std::uint64_t begin = share(blocks.length, row.start, size);
    out.add({blocks.offset + begin, share(blocks.length, row.start + to_end, size) - begin});
    out.add({blocks.offset, share(blocks.length, row.length - to_end, size)});
  });
}

/// `ranges` in coordinates of the torus, not of the schedule.
BlockRanges Placement::rangesOfSites(BlockRanges ranges) const {
  for (std::uint32_t axis = 0; axis < axes_.nodeAxes(); ++axis) {
    ranges[axis].start =
        wrap(std::int64_t{ranges[axis].start} + rooted_.origin()[axis], axes_.size(axis));
  }
  return ranges;
}

/// Appends the block for, or from, the neighbour of each part.
void Placement::appendNeighbours(Buffer buffer, const Run& run, ExtentWriter& out) const {
  const bool sent = buffer == Buffer::kIn;
  const BlockPlaces& blocks = sent ? in_blocks_ : blocks_;
  for (std::uint32_t part = run.part; part < run.part + run.parts; ++part) {
    Way way = wayOfPart(part);
    if (!sent) way.sign = -way.sign;  // data that travels up comes from below
    const std::uint32_t place =
        sent && sendsOneBlock() ? 0 : neighbourPlace(schedule_.topology, way);
    const auto number = static_cast<std::int32_t>(place);
    out.add({blocks.offsetOf(number), blocks.countOf(number)});
  }
}

void Placement::appendBlockMajor(Buffer buffer, const Run& run, ExtentWriter& out) const {
  if (row_.isOfNeighbours()) return appendNeighbours(buffer, run, out);
  if (axes_.ends() == 1 && !isWhole(buffer)) {  // the own block
    return out.add(partsOf(run.part, run.parts, {0, blocks_.countOf(rank_)}));
  }
  const std::span<const std::uint8_t> order = orderOf(run.part);
  // Of pairs, the blocks from or to the own node are in the order of the ranks at their other end.
  const bool sent = axes_.ends() == 2 && buffer == Buffer::kIn;
  const BlockPlaces& blocks = sent ? in_blocks_ : blocks_;
  if (blocks.inRow() && !hasGapsOfPairs()) {
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

}  // namespace torc
