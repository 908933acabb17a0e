// Structural validation of operations. The nodes that execute an operation form, on every axis, a
// cyclic range: its guard. So "for all executing nodes" is asked axis by axis, at the two ends of
// that range, and the time taken does not depend on the number of nodes.
#include "schedules/validation/validate_operations.h"

#include <algorithm>
#include <array>
#include <vector>

#include "schedules/neighbours.h"
#include "schedules/piece_search.h"
#include "schedules/root.h"
#include "schedules/topology/damage.h"
#include "schedules/validation/validate.h"
#include "support/message.h"

namespace torc {
namespace {

/// Which regions an operation kind has.
struct KindRegions {
  bool dst, a, b;
};
constexpr KindRegions kKindRegions[kOperationKindCount] = {
    {false, true, false},   // send a
    {true, false, false},   // recv dst
    {true, true, true},     // recv_reduce dst = a + (received into b)
    {true, true, true},     // reduce dst = a + b
    {true, true, false},    // copy dst = a
    {false, false, false},  // notify
    {false, false, false},  // await
};

/// Whether `interval` is so many steps from the executing node for all nodes of `guard`.
bool isAt(std::int32_t steps, const Interval& interval, const Range& guard, std::uint32_t size) {
  return seen(interval, guard, size) == seen(Interval::relative(steps), guard, size);
}

/// Who executes behind a root-relative guard on an axis of `size`, whatever the root's coordinate.
Range underAnyRoot(const Interval& interval, std::uint32_t size) {
  const std::int64_t last_coordinate = std::int64_t{size} - 1;
  std::int64_t first = interval.start, last = last_coordinate + interval.start;
  if (interval.kind == IntervalKind::kFromRoot) last = interval.length;
  if (interval.kind == IntervalKind::kToRoot) first = interval.length;
  if (interval.kind == IntervalKind::kRoot) last += std::int64_t{interval.length} - 1;
  if (interval.kind == IntervalKind::kRootWithin) last = first + interval.length - 1;
  first = std::max<std::int64_t>(first, 0);
  last = std::min(last, last_coordinate);
  if (first > last) return {0, 0};
  return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last - first + 1)};
}

class OperationValidator {
 public:
  OperationValidator(const ScheduleView& schedule, std::uint32_t part_count, NamedBlocks named)
      : schedule_(schedule),
        topology_(schedule.topology),
        part_count_(part_count),
        named_(named),
        search_(schedule),
        axes_(schedule.blockAxes()),
        reaches_(schedule.frames.size()),
        peer_loop_of_(schedule.streams.size(), kUnknown) {}

  /// Checks `operation`, number `index`, as the one after those checked before.
  Status check(const Operation& operation, std::uint32_t index);
  /// Dependences that the operations checked so far have.
  std::uint64_t dependences() const { return dependences_; }
  /// Pieces of frames looked at so far, besides those that regions name.
  std::uint64_t pieceChecks() const { return search_.checks() + reach_checks_; }

 private:
  Status checkPlace(const Operation& operation);
  Status checkDependences(const Operation& operation, std::uint32_t index);
  Status checkGuard(const Operation& operation);
  Status checkPeer(const Operation& operation);
  Status checkShift(const Operation& operation);
  Status checkLoop(const Operation& operation);
  Status checkPeerIsAlive(const Shift& shift);
  Status checkRegions(const Operation& operation);
  Status checkRegion(const Operation& operation, const Region& region, bool wanted);
  Status checkBuffer(const Operation& operation, const Region& region);
  bool isAtRoot(const Operation& operation) const;
  Status checkOwnBlock(std::uint32_t box, std::uint32_t end);
  Status checkNeighboursBlock(std::uint32_t box, const Way& way);
  Status checkFrame(const Region& region);
  Status checkIntervals(const Operation& operation, std::uint32_t box);
  Status checkReach(std::uint32_t axis, std::int64_t start, std::int64_t end);
  Status checkFrameOnMesh(std::uint32_t frame);
  std::uint32_t differingAxis(std::uint32_t one, std::uint32_t other) const;
  Status checkSameBlocks(const Region& first, const Region& second);
  Status checkStaging(const Operation& operation);

  std::uint32_t slot(const Region& region) const { return schedule_.frames[region.frame].slot; }
  std::uint32_t size(std::uint32_t axis) const { return topology_.axes[axis].size; }
  char axisName(std::uint32_t axis) const { return topology_.axes[axis].name; }
  /// "X", or of a pair's blocks "X of the source".
  std::string blockAxisName(std::uint32_t axis) const {
    std::string name(1, axisName(axes_.nodeAxis(axis)));
    if (axes_.ends() == 2) {
      name += axis < axes_.nodeAxes() ? " of the source" : " of the destination";
    }
    return name;
  }

  const ScheduleView& schedule_;
  const Topology& topology_;
  const std::uint32_t part_count_;
  Ranges guard_{};  // of the operation being checked: the coordinates of those who execute it
  std::uint16_t phase_ = 0;
  std::uint64_t dependences_ = 0;
  NamedBlocks named_;  // so far
  PieceSearch search_;

  /// How far the relative intervals of a frame's pieces reach from a node along the axes that do
  /// not wrap: from `start` to before `end`.
  struct Reach {
    bool known = false;
    std::array<std::int64_t, kMaxAxes> start{}, end{};
  };
  const BlockAxes axes_;
  std::vector<Reach> reaches_;  // by frame, known when it is first needed
  std::uint64_t reach_checks_ = 0;

  /// Of each stream: the loop over peers of all its messages, or that they have none.
  static constexpr std::uint32_t kUnknown = kNone - 1;
  std::vector<std::uint32_t> peer_loop_of_;
  std::uint64_t peer_loop_messages_ = 0;  // so far
};

Status OperationValidator::check(const Operation& operation, std::uint32_t index) {
  Status status = checkPlace(operation);
  if (status.ok()) status = checkDependences(operation, index);
  if (status.ok()) status = checkGuard(operation);
  if (status.ok()) status = checkPeer(operation);
  if (status.ok()) status = checkRegions(operation);
  return status;
}

Status OperationValidator::checkPlace(const Operation& operation) {
  const auto kind = static_cast<unsigned>(operation.kind);
  if (kind >= kOperationKindCount) return malformed("operation kind ", kind, " is unknown");
  if (operation.peer_kind > PeerKind::kLoop) {
    return malformed("peer kind ", static_cast<unsigned>(operation.peer_kind), " is unknown");
  }
  if (operation.phase < phase_) {
    return malformed("phase ", operation.phase, " comes after phase ", phase_);
  }
  phase_ = operation.phase;
  if (operation.stream >= schedule_.streams.size()) {
    return malformed("stream ", operation.stream, " does not exist (schedule has ",
                     schedule_.streams.size(), ")");
  }
  const bool reduces =
      operation.kind == OperationKind::kReduce || operation.kind == OperationKind::kRecvReduce;
  if (reduces && !rowOf(schedule_.collective).reduces()) {
    return malformed(name(operation.kind), " has no meaning: ", rowOf(schedule_.collective).name,
                     " does not reduce");
  }
  return {};
}

Status OperationValidator::checkDependences(const Operation& operation, std::uint32_t index) {
  // One list after the other: so each is read once, and a schedule has one table only.
  if (operation.first_dependence != dependences_) {
    return malformed("its dependences start at ", operation.first_dependence,
                     ", those before it end at ", dependences_);
  }
  if (operation.dependence_count > schedule_.dependences.size() - dependences_) {
    return malformed("its dependences end at ", dependences_ + operation.dependence_count,
                     ", the table at ", schedule_.dependences.size());
  }
  dependences_ += operation.dependence_count;
  std::int64_t previous = -1;
  for (const std::uint32_t dependence : schedule_.dependencesOf(operation)) {
    const std::uint32_t operation_before = operationOf(dependence);
    const std::uint32_t record = iterationsOf(dependence);
    if (dependence <= previous) {
      return malformed("dependence ", operation_before, " comes after ",
                       operationOf(static_cast<std::uint32_t>(previous)), "; they must ascend");
    }
    previous = dependence;
    if (record > schedule_.iterations.size()) {
      return malformed("depends on iterations ", record - 1, ", which do not exist (schedule has ",
                       schedule_.iterations.size(), ")");
    }
    if (record != 0 || !schedule_.loops.empty()) continue;  // validateLoops
    if (operation_before >= index) {
      return malformed("depends on operation ", operation_before, ", which is not above it");
    }
  }
  return {};
}

Status OperationValidator::checkGuard(const Operation& operation) {
  Box guard;
  if (operation.guard != kNone) {
    if (operation.guard >= schedule_.boxes.size()) {
      return malformed("guard: box ", operation.guard, " does not exist (schedule has ",
                       schedule_.boxes.size(), ")");
    }
    guard = schedule_.boxes[operation.guard];
  }
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
    if (guard[axis].kind == IntervalKind::kRelative || isPeerRelative(guard[axis].kind)) {
      return malformed("guard: is relative on ", axisName(axis));
    }
  }
  guard_ = resolve(guard, topology_, Coordinates{});
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
    if (isRootRelative(guard[axis].kind)) guard_[axis] = underAnyRoot(guard[axis], size(axis));
  }
  return {};
}

Status OperationValidator::checkPeer(const Operation& operation) {
  const bool wanted = sends(operation.kind) || receives(operation.kind);
  if (!wanted) {
    if (operation.peer != kNone || operation.hasPeerLoop()) {
      return malformed(name(operation.kind), " has a peer");
    }
    return {};
  }
  Status status = operation.hasPeerLoop() ? checkLoop(operation) : checkShift(operation);
  if (!status.ok()) return status;
  const std::uint32_t peers = operation.hasPeerLoop() ? operation.peer : kNone;
  std::uint32_t& others = peer_loop_of_[operation.stream];
  if (others == kUnknown) others = peers;
  const bool same =
      others == peers || (others != kNone && peers != kNone &&
                          schedule_.peer_loops[others] == schedule_.peer_loops[peers]);
  if (same) return {};
  return malformed("peer: stream ", operation.stream,
                   " has messages to or from other loops over peers, or such without one");
}

Status OperationValidator::checkShift(const Operation& operation) {
  if (operation.peer >= schedule_.shifts.size()) {
    return malformed("peer: shift ", operation.peer, " does not exist (schedule has ",
                     schedule_.shifts.size(), ")");
  }
  const Shift& shift = schedule_.shifts[operation.peer];
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
    if (topology_.axes[axis].wraps() || shift[axis] == 0) continue;
    const std::int64_t first = std::int64_t{guard_[axis].start} + shift[axis];
    const std::int64_t last = first + guard_[axis].length - 1;
    if (first < 0 || last >= size(axis)) {
      return malformed("peer: ", axisName(axis), "=", first < 0 ? first : last,
                       " is outside the mesh (size ", size(axis), ")");
    }
  }
  return checkPeerIsAlive(shift);
}

/// The peers of a loop execute what its node executes: so its guard must not tell them apart.
Status OperationValidator::checkLoop(const Operation& operation) {
  if (operation.peer >= schedule_.peer_loops.size()) {
    return malformed("peer: loop over peers ", operation.peer, " does not exist (schedule has ",
                     schedule_.peer_loops.size(), ")");
  }
  if (rowOf(schedule_.collective).isRooted() || rowOf(schedule_.collective).reduces() ||
      isSignal(operation.kind)) {
    return malformed(
        "peer: a loop over peers is for data that are moved between equals, not for ",
        isSignal(operation.kind) ? name(operation.kind) : rowOf(schedule_.collective).name);
  }
  const PeerLoop& peers = schedule_.peer_loops[operation.peer];
  peer_loop_messages_ += peers.size();
  if (peer_loop_messages_ > kMaxPeerLoopMessages) {
    return malformed("peer: the loops over peers up to here have more than ", kMaxPeerLoopMessages,
                     " messages");
  }
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
    const bool still = peers.count[axis] == 1 && peers.first[axis] == 0;
    if (!still && guard_[axis].length != size(axis)) {
      return malformed("guard: restricts ", axisName(axis),
                       ", along which its loop over peers goes");
    }
  }
  return {};
}

/// Whether no live node that the guard admits has a dead one at `shift`.
Status OperationValidator::checkPeerIsAlive(const Shift& shift) {
  for (const Coordinates& dead : topology_.deadNodes()) {
    Coordinates from{};
    bool executes = true;
    for (int axis = 0; axis < topology_.dimensions() && executes; ++axis) {
      const std::uint32_t at = wrap(std::int64_t{dead[axis]} - shift[axis], size(axis));
      from[axis] = static_cast<std::int32_t>(at);
      executes = contains(guard_[axis], at, size(axis));
    }
    if (executes && !topology_.isDead(from)) {
      return malformed("peer: node ", nodeText(topology_, dead), " is dead");
    }
  }
  return {};
}

Status OperationValidator::checkRegions(const Operation& operation) {
  const KindRegions& wanted = kKindRegions[static_cast<unsigned>(operation.kind)];
  const struct {
    const char* name;
    const Region& region;
    bool wanted;
  } regions[] = {{"dst", operation.dst, wanted.dst},
                 {"a", operation.a, wanted.a},
                 {"b", operation.b, wanted.b}};
  for (const auto& [name, region, is_wanted] : regions) {
    if (Status status = checkRegion(operation, region, is_wanted); !status.ok()) {
      return status.annotated(name);
    }
  }
  if (operation.dst.buffer == Buffer::kIn) return malformed("dst: writes in");
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = i + 1; j < 3; ++j) {
      if (!regions[i].wanted || !regions[j].wanted) continue;
      if (Status status = checkSameBlocks(regions[i].region, regions[j].region); !status.ok()) {
        return status.annotated(message(regions[i].name, " and ", regions[j].name));
      }
    }
  }
  if (operation.kind == OperationKind::kCopy && operation.dst.buffer == operation.a.buffer &&
      operation.dst.frame == operation.a.frame) {
    return malformed("copies a region to itself");
  }
  if (operation.kind == OperationKind::kRecvReduce) return checkStaging(operation);
  return {};
}

Status OperationValidator::checkRegion(const Operation& operation, const Region& region,
                                       bool wanted) {
  if (region.reserved != 0) return malformed("reserved bytes are not 0");
  const auto buffer = static_cast<unsigned>(region.buffer);
  if (buffer > static_cast<unsigned>(Buffer::kScratch)) {
    return malformed("buffer ", buffer, " is unknown");
  }
  if (!wanted) {
    if (region != Region{}) return malformed(name(operation.kind), " has no such region");
    return {};
  }
  if (!region.present()) return malformed("is missing");
  if (Status status =
          validateBlocks(schedule_, part_count_, region.part, region.box, region.pieces, named_);
      !status.ok()) {
    return status;
  }
  const std::uint32_t served = schedule_.streams[operation.stream].part;
  for (const Piece& piece : schedule_.piecesOf(region)) {
    if (served != kNone && (piece.part != served || piece.parts != 1)) {
      return malformed("part ", piece.part == served ? piece.part + 1 : piece.part,
                       " is not that of stream ", operation.stream, " (part ", served, ")");
    }
    if (Status status = checkIntervals(operation, piece.box); !status.ok()) return status;
  }
  return checkBuffer(operation, region);
}

Status OperationValidator::checkBuffer(const Operation& operation, const Region& region) {
  if (region.buffer == Buffer::kScratch) return checkFrame(region);
  if (region.frame != kNone) {
    return malformed(name(region.buffer), " has a frame, which is for scratch alone");
  }
  if (operation.kind == OperationKind::kRecvReduce && &region == &operation.b) {
    return malformed("must be scratch, not ", name(region.buffer));
  }
  const CollectiveRow& collective = rowOf(schedule_.collective);
  const bool is_in = region.buffer == Buffer::kIn;
  if ((is_in ? collective.in_elsewhere : collective.out_elsewhere) == Holds::kNothing &&
      !isAtRoot(operation)) {
    return malformed(name(region.buffer), " is the root's alone: the guard admits others");
  }
  const bool whole = is_in ? collective.inWhole() : collective.outWhole();
  if (whole) return {};
  for (const Piece& piece : schedule_.piecesOf(region)) {
    Status status;
    if (is_in && collective.isOfNeighbours()) {
      for (std::uint32_t i = 0; i < piece.parts && status.ok(); ++i)
        status = checkNeighboursBlock(piece.box, wayOfPart(piece.part + i));
    } else {
      status = checkOwnBlock(piece.box, is_in ? 0 : axes_.ends() - 1);
    }
    if (!status.ok()) return status.annotated(std::string(name(region.buffer)));
  }
  return {};
}

/// Whether nobody but the root executes `operation`.
bool OperationValidator::isAtRoot(const Operation& operation) const {
  if (operation.guard == kNone) return topology_.sites() == 1;
  const Box& guard = schedule_.boxes[operation.guard];
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
    const Interval wanted =
        countsFromRoot(schedule_, axis) ? Interval::absolute(0) : Interval::root();
    if (size(axis) > 1 && guard[axis] != wanted && guard[axis].kind != IntervalKind::kRootWithin) {
      return false;
    }
  }
  return true;
}

/// Whether the blocks of `box` are the own one; those of a pair, whether they are from the own node
/// (`end` 0) or to it (1).
Status OperationValidator::checkOwnBlock(std::uint32_t box, std::uint32_t end) {
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
    const std::uint32_t block_axis = end * axes_.nodeAxes() + axis;
    if (isAt(0, schedule_.blockInterval(box, block_axis), guard_[axis], size(axis))) continue;
    return malformed("holds the own block", axes_.ends() == 2 ? "s" : "", " alone; on ",
                     blockAxisName(block_axis), " the region has others");
  }
  return {};
}

/// Whether the blocks of `box` are that of the neighbour `way`.
Status OperationValidator::checkNeighboursBlock(std::uint32_t box, const Way& way) {
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
    const std::int32_t steps = axis == way.axis ? way.sign : 0;
    if (isAt(steps, schedule_.boxes[box][axis], guard_[axis], size(axis))) continue;
    return malformed("holds of each part the block of the neighbour ",
                     way.sign > 0 ? "above" : "below", " on ", axisName(way.axis), " alone; on ",
                     axisName(axis), " the region has others");
  }
  return {};
}

Status OperationValidator::checkFrame(const Region& region) {
  if (region.frame >= schedule_.frames.size()) {
    return malformed("frame ", region.frame, " does not exist (schedule has ",
                     schedule_.frames.size(), ")");
  }
  const Frame& frame = schedule_.frames[region.frame];
  if (Status status = checkFrameOnMesh(region.frame); !status.ok()) {
    return status.annotated(message("frame ", region.frame));
  }
  const PieceList outer = schedule_.piecesOf(frame);
  std::size_t next = 0;  // mostly the pieces of a region follow the frame's order
  for (const Piece& piece : schedule_.piecesOf(region)) {
    const std::size_t found = search_.find(guard_, frame, piece, next);
    next = found + 1;
    if (search_.checks() > mostPieceChecks(schedule_)) {
      return malformed("takes too long to find in the pieces of frame ", region.frame);
    }
    if (found < outer.size()) continue;
    if (outer.size() > 1) {
      return malformed("has a piece that is in none of frame ", region.frame);
    }
    if (const Piece& only = outer[0];
        piece.part < only.part || piece.part + piece.parts > only.part + only.parts) {
      return malformed("part ", piece.part, " is not that of frame ", region.frame, " (part ",
                       only.part, ")");
    }
    return malformed("is not inside frame ", region.frame, " on ",
                     blockAxisName(search_.axisOutside(guard_, outer[0].box, piece.box)));
  }
  return {};
}

/// Whether the box stays on every mesh axis, whoever executes (absolute intervals do, always), and
/// counts from the peer only where there is a loop over peers.
Status OperationValidator::checkIntervals(const Operation& operation, std::uint32_t box) {
  for (std::uint32_t block_axis = 0; block_axis < axes_.count(); ++block_axis) {
    const std::uint32_t axis = axes_.nodeAxis(block_axis);
    const Interval& interval = schedule_.blockInterval(box, block_axis);
    if (isPeerRelative(interval.kind)) {
      if (!operation.hasPeerLoop()) {
        return malformed("counts from a peer on ", axisName(axis),
                         ", but there is no loop over peers");
      }
      if (interval.kind != Interval::ofPeer(sends(operation.kind)).kind) {
        return malformed("counts from the other side of the peer on ", axisName(axis));
      }
      if (!topology_.axes[axis].wraps() && (interval.start != 0 || interval.length != 1)) {
        return malformed("has more than the peer on ", axisName(axis), ", which does not wrap");
      }
    }
    if (topology_.axes[axis].wraps() || interval.kind != IntervalKind::kRelative) continue;
    Status status =
        checkReach(axis, interval.start, std::int64_t{interval.start} + interval.length);
    if (!status.ok()) return status;
  }
  return {};
}

/// Whether what reaches from `start` to before `end` of each executing node stays inside.
Status OperationValidator::checkReach(std::uint32_t axis, std::int64_t start, std::int64_t end) {
  const Range& guard = guard_[axis];
  const std::int64_t first = std::int64_t{guard.start} + start;
  const std::int64_t last = std::int64_t{guard.start} + guard.length - 1 + end - 1;
  if (first >= 0 && last < size(axis)) return {};
  return malformed(axisName(axis), "=", first < 0 ? first : last, " is outside the mesh (size ",
                   size(axis), ")");
}

/// The same for all pieces of a frame, which are looked at once, not for every region in it.
Status OperationValidator::checkFrameOnMesh(std::uint32_t frame) {
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
    Status status = checkReach(axis, reach.start[axis], reach.end[axis]);
    if (!status.ok()) return status;
  }
  return {};
}

/// The first block axis on which two boxes are different for the nodes of the guard; kNone: they
/// are not.
std::uint32_t OperationValidator::differingAxis(std::uint32_t one, std::uint32_t other) const {
  if (one == other) return kNone;
  for (std::uint32_t axis = 0; axis < axes_.count(); ++axis) {
    const Range& executing = guard_[axes_.nodeAxis(axis)];
    if (seen(schedule_.blockInterval(one, axis), executing, axes_.size(axis)) !=
        seen(schedule_.blockInterval(other, axis), executing, axes_.size(axis))) {
      return axis;
    }
  }
  return kNone;
}

/// Regions of an operation name the same blocks: those of equal numbers may differ in size. In
/// one slot they must be in one frame, or their blocks would lie across each other.
Status OperationValidator::checkSameBlocks(const Region& first, const Region& second) {
  const PieceList ones = schedule_.piecesOf(first);
  const PieceList others = schedule_.piecesOf(second);
  if (ones.size() != others.size()) {
    return malformed("have ", ones.size(), " and ", others.size(), " pieces");
  }
  for (std::size_t i = 0; i < ones.size(); ++i) {
    if (ones[i].part != others[i].part || ones[i].parts != others[i].parts) {
      return malformed("name different parts");
    }
    if (const std::uint32_t axis = differingAxis(ones[i].box, others[i].box); axis != kNone) {
      return malformed("name different blocks on ", blockAxisName(axis));
    }
  }
  if (first.buffer == Buffer::kScratch && second.buffer == Buffer::kScratch &&
      first.frame != second.frame && slot(first) == slot(second)) {
    return malformed("are in frames ", first.frame, " and ", second.frame, " of one slot (",
                     slot(first), ")");
  }
  return {};
}

/// What a recv_reduce receives waits in a frame of its own.
Status OperationValidator::checkStaging(const Operation& operation) {
  const Region& b = operation.b;
  const PieceList frame = schedule_.piecesOf(schedule_.frames[b.frame]);
  const PieceList pieces = schedule_.piecesOf(b);
  if (pieces.size() != frame.size()) {
    return malformed("b: has ", pieces.size(), " of the ", frame.size(), " pieces of frame ",
                     b.frame);
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (const std::uint32_t axis = differingAxis(frame[i].box, pieces[i].box); axis != kNone) {
      return malformed("b: does not fill frame ", b.frame, " on ", blockAxisName(axis));
    }
    if (pieces[i].part != frame[i].part || pieces[i].parts != frame[i].parts) {
      return malformed("b: does not fill frame ", b.frame, ": it has other parts");
    }
  }
  for (const Region* other : {&operation.dst, &operation.a}) {
    if (other->buffer == Buffer::kScratch && other->frame == b.frame) {
      return malformed("b: frame ", b.frame, " is used by ", other == &operation.a ? "a" : "dst",
                       " too");
    }
  }
  return {};
}

}  // namespace

Status validateOperations(const ScheduleView& schedule, std::uint32_t part_count, NamedBlocks named,
                          std::uint64_t* piece_checks) {
  OperationValidator validator(schedule, part_count, named);
  for (std::uint32_t i = 0; i < schedule.operations.size(); ++i) {
    if (Status status = validator.check(schedule.operations[i], i); !status.ok()) {
      return status.annotated(message("operation ", i));
    }
  }
  if (piece_checks != nullptr) *piece_checks = validator.pieceChecks();
  if (validator.dependences() != schedule.dependences.size()) {
    return malformed("dependences: ", schedule.dependences.size(), " records, operations use ",
                     validator.dependences());
  }
  return {};
}

}  // namespace torc
