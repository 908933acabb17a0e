// Validation of the regions of operations: their records exist, they are inside their buffer, and
// all regions of an operation name the same blocks.
#include "schedules/validation/validate_regions.h"

#include <algorithm>

#include "schedules/faults/reject.h"
#include "schedules/neighbours.h"
#include "schedules/root.h"
#include "schedules/validation/validate.h"
#include "support/message.h"

namespace torc {
namespace {

/// Whether `interval` is exactly the coordinate `steps` from the executing node, for all nodes of
/// `guard`.
bool isAt(std::int32_t steps, const Interval& interval, const Range& guard, std::uint32_t size) {
  return seen(interval, guard, size) == seen(Interval::relative(steps), guard, size);
}

}  // namespace

RegionValidator::RegionValidator(const ScheduleView& schedule, std::uint32_t part_count,
                                 NamedBlocks named)
    : schedule_(schedule),
      topology_(schedule.topology),
      part_count_(part_count),
      named_(named),
      search_(schedule),
      axes_(schedule.blockAxes()),
      reaches_(schedule.frames.size()) {}

void RegionValidator::checkRegions(const Operation& operation) {
  const KindRegions& wanted = regionsOf(operation.kind);
  const struct {
    const char* name;
    const Region& region;
    bool wanted;
  } regions[] = {{"dst", operation.dst, wanted.dst},
                 {"a", operation.a, wanted.a},
                 {"b", operation.b, wanted.b}};
  for (const auto& each : regions)
    within([&] { checkRegion(operation, each.region, each.wanted); }, each.name);
  rejectIf(operation.dst.buffer == Buffer::kIn, "dst: writes in");
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = i + 1; j < 3; ++j) {
      if (!regions[i].wanted || !regions[j].wanted) continue;
      within([&] { checkSameBlocks(regions[i].region, regions[j].region); }, regions[i].name,
             " and ", regions[j].name);
    }
  }
  rejectIf(operation.kind == OperationKind::kCopy && operation.dst.buffer == operation.a.buffer &&
               operation.dst.frame == operation.a.frame,
           "copies a region to itself");
  if (operation.kind == OperationKind::kRecvReduce) checkStaging(operation);
}

void RegionValidator::checkRegion(const Operation& operation, const Region& region, bool wanted) {
  rejectIf(region.reserved != 0, "reserved bytes are not 0");
  const auto buffer = static_cast<unsigned>(region.buffer);
  rejectIf(buffer > static_cast<unsigned>(Buffer::kScratch), "buffer ", buffer, " is unknown");
  if (!wanted) {
    rejectIf(region != Region{}, name(operation.kind), " has no such region");
    return;
  }
  rejectIf(!region.present(), "is missing");
  validateBlocks(schedule_, part_count_, region.part, region.box, region.pieces, named_);
  const std::uint32_t served = schedule_.streams[operation.stream].part;
  for (const Piece& piece : schedule_.piecesOf(region)) {
    rejectIf(served != kNone && (piece.part != served || piece.parts != 1), "part ",
             piece.part == served ? piece.part + 1 : piece.part, " is not that of stream ",
             operation.stream, " (part ", served, ")");
    checkIntervals(operation, piece.box);
  }
  checkBuffer(operation, region);
}

void RegionValidator::checkBuffer(const Operation& operation, const Region& region) {
  if (region.buffer == Buffer::kScratch) return checkFrame(region);
  rejectIf(region.frame != kNone, name(region.buffer), " has a frame, which is for scratch alone");
  rejectIf(operation.kind == OperationKind::kRecvReduce && &region == &operation.b,
           "must be scratch, not ", name(region.buffer));
  const CollectiveRow& collective = rowOf(schedule_.collective);
  const bool is_in = region.buffer == Buffer::kIn;
  rejectIf((is_in ? collective.in_elsewhere : collective.out_elsewhere) == Holds::kNothing &&
               !isAtRoot(operation),
           name(region.buffer), " is the root's alone: the guard admits others");
  const bool whole = is_in ? collective.inWhole() : collective.outWhole();
  if (whole) return;
  for (const Piece& piece : schedule_.piecesOf(region)) {
    const auto check = [&] {
      if (is_in && collective.isOfNeighbours()) {
        for (std::uint32_t i = 0; i < piece.parts; ++i)
          checkNeighboursBlock(piece.box, wayOfPart(piece.part + i));
      } else {
        checkOwnBlock(piece.box, is_in ? 0 : axes_.ends() - 1);
      }
    };
    within(check, name(region.buffer));
  }
}

/// Whether only the root executes `operation`.
bool RegionValidator::isAtRoot(const Operation& operation) const {
  if (operation.guard == kNone) return topology_.sites() == 1;
  const Box& guard = schedule_.boxes[operation.guard];
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
    const Interval& along = guard[axis];
    if (size(axis) == 1 || along.kind == IntervalKind::kRootWithin) continue;
    if (countsFromRoot(schedule_, axis) && along == Interval::absolute(0)) continue;
    const RootEnds ends = along.rootEnds();
    if (!isRootRelative(along.kind) || !ends.first_from_root || !ends.last_from_root ||
        ends.first != 0 || ends.last != 0) {
      return false;
    }
  }
  return true;
}

/// Checks that the blocks of `box` are the own block; of pairs, those from the own node (`end` 0)
/// or to it (1).
void RegionValidator::checkOwnBlock(std::uint32_t box, std::uint32_t end) {
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
    const std::uint32_t block_axis = end * axes_.nodeAxes() + axis;
    if (isAt(0, schedule_.blockInterval(box, block_axis), guard_[axis], size(axis))) continue;
    reject("holds the own block", axes_.ends() == 2 ? "s" : "", " alone; on ",
           blockAxisName(block_axis), " the region has others");
  }
}

/// Checks that `box` is the block of the neighbour `way`.
void RegionValidator::checkNeighboursBlock(std::uint32_t box, const Way& way) {
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
    const std::int32_t steps = axis == way.axis ? way.sign : 0;
    if (isAt(steps, schedule_.boxes[box][axis], guard_[axis], size(axis))) continue;
    reject("holds of each part the block of the neighbour ", way.sign > 0 ? "above" : "below",
           " on ", axisName(way.axis), " alone; on ", axisName(axis), " the region has others");
  }
}

void RegionValidator::checkFrame(const Region& region) {
  checkExists("frame ", region.frame, schedule_.frames.size());
  const Frame& frame = schedule_.frames[region.frame];
  within([&] { checkFrameOnMesh(region.frame); }, "frame ", region.frame);
  const PieceList outer = schedule_.piecesOf(frame);
  std::size_t next = 0;  // mostly the pieces of a region follow the frame's order
  for (const Piece& piece : schedule_.piecesOf(region)) {
    const std::size_t found = search_.find(guard_, frame, piece, next);
    next = found + 1;
    rejectIf(search_.checks() > mostPieceChecks(schedule_),
             "takes too long to find in the pieces of frame ", region.frame);
    if (found < outer.size()) continue;
    rejectIf(outer.size() > 1, "has a piece that is in none of frame ", region.frame);
    const Piece& only = outer[0];
    rejectIf(piece.part < only.part || piece.part + piece.parts > only.part + only.parts, "part ",
             piece.part, " is not that of frame ", region.frame, " (part ", only.part, ")");
    reject("is not inside frame ", region.frame, " on ",
           blockAxisName(search_.axisOutside(guard_, only.box, piece.box)));
  }
}

/// Checks that the box stays on every mesh axis for every executing node (absolute intervals always
/// do), and counts from the peer only in a loop over peers.
void RegionValidator::checkIntervals(const Operation& operation, std::uint32_t box) {
  for (std::uint32_t block_axis = 0; block_axis < axes_.count(); ++block_axis) {
    const std::uint32_t axis = axes_.nodeAxis(block_axis);
    const Interval& interval = schedule_.blockInterval(box, block_axis);
    if (isPeerRelative(interval.kind)) {
      rejectIf(!operation.hasPeerLoop(), "counts from a peer on ", axisName(axis),
               ", but there is no loop over peers");
      rejectIf(interval.kind != Interval::ofPeer(sends(operation.kind)).kind,
               "counts from the other side of the peer on ", axisName(axis));
      rejectIf(!topology_.axes[axis].wraps() && (interval.start != 0 || interval.length != 1),
               "has more than the peer on ", axisName(axis), ", which does not wrap");
    }
    if (topology_.axes[axis].wraps() || interval.kind != IntervalKind::kRelative) continue;
    checkReach(axis, interval.start, std::int64_t{interval.start} + interval.length);
  }
}

void RegionValidator::checkReach(std::uint32_t axis, std::int64_t start, std::int64_t end) const {
  const Range& guard = guard_[axis];
  const std::int64_t first = std::int64_t{guard.start} + start;
  const std::int64_t last = std::int64_t{guard.start} + guard.length - 1 + end - 1;
  if (first >= 0 && last < size(axis)) return;
  reject(axisName(axis), "=", first < 0 ? first : last, " is outside the mesh (size ", size(axis),
         ")");
}

/// The same for all pieces of a frame, examined once for all regions in it.
void RegionValidator::checkFrameOnMesh(std::uint32_t frame) {
  Reach& reach = reaches_[frame];
  if (!reach.known) {
    reach.known = true;
    for (const Piece& piece : schedule_.piecesOf(schedule_.frames[frame])) {
      ++reach_checks_;
      for (std::uint32_t block_axis = 0; block_axis < axes_.count(); ++block_axis) {
        const std::uint32_t axis = axes_.nodeAxis(block_axis);
        const Interval& interval = schedule_.blockInterval(piece.box, block_axis);
        if (interval.kind != IntervalKind::kRelative) continue;
        const std::int64_t start = interval.start;
        const bool first = reach.start[axis] == reach.end[axis];
        reach.start[axis] = first ? start : std::min(reach.start[axis], start);
        reach.end[axis] =
            std::max(first ? start : reach.end[axis], start + std::int64_t{interval.length});
      }
    }
  }
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
    if (topology_.axes[axis].wraps() || reach.start[axis] == reach.end[axis]) continue;
    checkReach(axis, reach.start[axis], reach.end[axis]);
  }
}

/// Checks that regions of an operation name the same blocks. In one slot they must be in one frame:
/// overlapping blocks would be overwritten.
void RegionValidator::checkSameBlocks(const Region& first, const Region& second) {
  const PieceList ones = schedule_.piecesOf(first);
  const PieceList others = schedule_.piecesOf(second);
  rejectIf(ones.size() != others.size(), "have ", ones.size(), " and ", others.size(), " pieces");
  for (std::size_t i = 0; i < ones.size(); ++i) {
    rejectIf(ones[i].part != others[i].part || ones[i].parts != others[i].parts,
             "name different parts");
    if (const std::uint32_t axis = search_.axisDiffering(guard_, ones[i].box, others[i].box);
        axis != kNone)
      reject("name different blocks on ", blockAxisName(axis));
  }
  if (first.buffer == Buffer::kScratch && second.buffer == Buffer::kScratch &&
      first.frame != second.frame && slot(first) == slot(second))
    reject("are in frames ", first.frame, " and ", second.frame, " of one slot (", slot(first),
           ")");
}

/// The data of a recv_reduce is received into a frame of its own.
void RegionValidator::checkStaging(const Operation& operation) {
  const Region& b = operation.b;
  const PieceList frame = schedule_.piecesOf(schedule_.frames[b.frame]);
  const PieceList pieces = schedule_.piecesOf(b);
  rejectIf(pieces.size() != frame.size(), "b: has ", pieces.size(), " of the ", frame.size(),
           " pieces of frame ", b.frame);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (const std::uint32_t axis = search_.axisDiffering(guard_, frame[i].box, pieces[i].box);
        axis != kNone)
      reject("b: does not fill frame ", b.frame, " on ", blockAxisName(axis));
    rejectIf(pieces[i].part != frame[i].part || pieces[i].parts != frame[i].parts,
             "b: does not fill frame ", b.frame, ": it has other parts");
  }
  for (const Region* other : {&operation.dst, &operation.a}) {
    rejectIf(other->buffer == Buffer::kScratch && other->frame == b.frame, "b: frame ", b.frame,
             " is used by ", other == &operation.a ? "a" : "dst", " too");
  }
}

}  // namespace torc
