// Structural validation of a schedule's header and tables, without its operations. Operations
// follow in validate_operations.cc. The time taken is linear in the size of the tables and does not
// depend on the number of nodes.
#include "schedules/validation/validate.h"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "schedules/faults/reject.h"
#include "schedules/loops/loop_nest.h"
#include "schedules/loops/unroll.h"
#include "schedules/neighbours.h"
#include "schedules/root.h"
#include "schedules/validation/validate_loops.h"
#include "schedules/validation/validate_operations.h"

namespace torc {
namespace {

bool isNameStart(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}
bool isNameRest(char c) {
  return isNameStart(c) || (c >= '0' && c <= '9') || c == '.' || c == '-';
}
bool isPrintable(char c) {
  return c >= ' ' && c <= '~';
}

/// name and producer are printed unescaped in text forms and terminals.
void validateStrings(const ScheduleView& schedule) {
  const std::string_view name = schedule.name;
  rejectIf(name.empty(), "name: is empty");
  rejectIf(name.size() > kMaxNameLength, "name: has ", name.size(), " characters, at most ",
           kMaxNameLength);
  rejectIf(!isNameStart(name[0]), "name: must start with a letter or _");
  rejectIf(!std::ranges::all_of(name, isNameRest),
           "name: may have letters, digits, _, . and - only");
  rejectIf(schedule.producer.size() > kMaxProducerLength, "producer: has ",
           schedule.producer.size(), " characters, at most ", kMaxProducerLength);
  rejectIf(!std::ranges::all_of(schedule.producer, isPrintable),
           "producer: may have printable ASCII characters only");
}

void validateHeader(const ScheduleView& schedule) {
  const auto collective = static_cast<unsigned>(schedule.collective);
  rejectIf(collective >= kCollectiveCount, "collective ", collective, " is unknown");
  if (const std::uint32_t unknown = schedule.flags & ~kAllScheduleFlags; unknown != 0)
    reject("flags 0x", std::hex, unknown, " are unknown");
  orReject(schedule.topology.validate());
  orReject(validateGraph(schedule.topology, schedule.links));
  if (schedule.isOnGraph()) {
    rejectIf(!schedule.peer_loops.empty(), "has loops over peers, and a graph");
    rejectIf(schedule.flags & kConflictFreePhases,
             "flags: conflict-free phases are of axes, and not of a graph");
    rejectIf(rowOf(schedule.collective).isOfNeighbours(), "topology: the neighbours of ",
             rowOf(schedule.collective).name, " are those of a torus, and not of a graph");
  }
  rejectIf(schedule.topology.hasDetours() && !schedule.operations.empty(),
           "topology: detours are of plans, whose rings take them");
  return validateStrings(schedule);
}

void validateSegments(const ScheduleView& schedule) {
  const std::uint64_t segments = schedule.segments;
  rejectIf(segments < 1 || segments > kMaxSegments, "segments: ", segments, ", must be 1 to ",
           kMaxSegments);
  const std::uint32_t widest = segments == 1 ? 1 : kMaxSegmentsBefore;
  rejectIf(schedule.window < 1 || schedule.window > widest, "window: ", schedule.window,
           ", must be 1 to ", widest, " in ", segments, segments == 1 ? " segment" : " segments");
  if (segments == 1) return;
  // Expansion visits all of these for every segment.
  const auto limit = [&](const char* name, std::size_t size, std::uint64_t most) {
    rejectIf(size > most / segments, "segments: all ", segments, " have more than ", most, " ",
             name);
  };
  limit("operations", schedule.operations.size(), kMaxSegmentedOperations);
  limit("frames", schedule.frames.size(), kMaxSegmentedOperations);
  limit("pieces", schedule.pieces.size(), kMaxSegmentedOperations);
  limit("dependences", schedule.dependences.size(), 8 * kMaxSegmentedOperations);
  checkEach("piece", schedule.pieces, [](const Piece& piece) {
    rejectIf(piece.parts > 1, "has ", piece.parts,
             " parts, which do not follow one another in a segment");
  });
}

void validateColor(const Topology& topology, const Color& color) {
  rejectIf(color.weight < 1, "weight must be at least 1");
  rejectIf(color.directions < 1 || color.directions > 2, "has ", color.directions,
           " directions, must have 1 or 2");
  rejectIf(color.chunks < 1 || color.chunks > kMaxParts, "has ", color.chunks,
           " chunks, must have 1 to ", kMaxParts);
  rejectIf(color.axis_count != topology.axis_count, "orders ", color.axis_count,
           " axes, the topology has ", topology.axis_count);
  std::uint32_t seen = 0;
  for (std::uint32_t i = 0; i < kMaxAxes; ++i) {
    if (i >= color.axis_count) {
      rejectIf(color.order[i] != 0, "order: byte ", i, " is unused but not 0");
      continue;
    }
    rejectIf(color.order[i] >= topology.axis_count || (seen >> color.order[i] & 1),
             "order must name every axis once");
    seen |= 1u << color.order[i];
  }
  rejectIf(color.reserved != 0, "reserved bytes are not 0");
}

/// Also counts the parts; `ScheduleView::partCount` does so without checks for overflow.
void validateColors(const ScheduleView& schedule, std::uint32_t& part_count) {
  std::uint64_t weights = 0;
  std::uint64_t parts = 0;
  checkEach("color", schedule.colors, [&](const Color& color) {
    validateColor(schedule.topology, color);
    constexpr std::uint64_t kMaxWeights = std::numeric_limits<std::int64_t>::max();
    rejectIf(color.weight > kMaxWeights - weights, "the weights add up to more than ", kMaxWeights);
    weights += color.weight;
    parts += std::uint64_t{color.directions} * color.chunks;
    rejectIf(parts > kMaxParts, "the schedule has more than ", kMaxParts, " parts");
  });
  part_count = static_cast<std::uint32_t>(parts);
}

void validateStreams(const ScheduleView& schedule, std::uint32_t part_count) {
  checkEach("stream", schedule.streams, [&](const Stream& stream) {
    if (stream.part != kNone) checkExists("part ", stream.part, part_count);
  });
}

void validateRootRelative(const Interval& interval, const Axis& axis, bool may_be) {
  rejectIf(!may_be,
           "is root-relative, but coordinates count from the root there, or there is none");
  const auto size = std::int64_t{axis.size};
  rejectIf(interval.start <= -size || interval.start >= size, "offset ", interval.start,
           " leaves the axis from any root (size ", size, ")");
  if (hasAbsoluteEnd(interval.kind)) {
    if (interval.length < axis.size) return;
    reject("end ", interval.length, " is outside (size ", axis.size, ")");
  }
  rejectIf(interval.length < 1 || interval.length > axis.size, "length ", interval.length,
           " must be 1 to ", axis.size);
  rejectIf(interval.kind == IntervalKind::kRootWithin &&
               (interval.start < 0 || interval.start + std::int64_t{interval.length} > size),
           "r in ", interval.start, ":", interval.length, " leaves the axis (size ", axis.size,
           ")");
}

void validateRootSpan(const Interval& interval, const Axis& axis, bool may_be) {
  rejectIf(!may_be,
           "is for some roots, but coordinates count from the root there, or there is none");
  const RootSpan span = interval.rootSpan();
  rejectIf(interval != Interval::forRoots(span), "is for some roots, and unknown");
  const auto size = static_cast<std::int32_t>(axis.size);
  rejectIf(axis.size > kMostOfRootSpan, "is for some roots of ", axis.size, " nodes, more than ",
           kMostOfRootSpan);
  for (const auto& [end, from_root] :
       {std::pair{span.first, span.first_from_root}, std::pair{span.last, span.last_from_root}}) {
    rejectIf(end >= size || end < (from_root ? 1 - size : 0), "end ", end, " is outside (size ",
             size, ")");
  }
  rejectIf(span.from >= size || span.to >= size, "root ", std::max(span.from, span.to),
           " is outside (size ", size, ")");
  if (axis.wraps()) return;
  rejectIf(span.from > span.to, "is for roots from ", span.from, " to ", span.to, " of a mesh");
  for (const int root : {span.from, span.to}) {
    const int first = span.first + (span.first_from_root ? root : 0);
    const int last = span.last + (span.last_from_root ? root : 0);
    rejectIf(first < 0 || first > last || last >= size, first, "..", last, " for root ", root,
             " leaves the mesh (size ", size, ")");
  }
}

/// Rules for an interval in every use. A relative interval's fit on a mesh depends on the executing
/// nodes, so each operation is checked for it.
void validateInterval(const Interval& interval, const Axis& axis, bool may_be_root_relative) {
  if (interval.kind == IntervalKind::kForRoots)
    return validateRootSpan(interval, axis, may_be_root_relative);
  const bool still = interval.step == 0 && interval.growth == 0;
  rejectIf(interval.loop > kMaxLoopDepth || (interval.loop == 0) != still, "goes by ",
           int{interval.step}, " and ", int{interval.growth},
           " with the counter of a loop of depth ", unsigned{interval.loop});
  rejectIf(!still && interval.kind != IntervalKind::kAbsolute &&
               interval.kind != IntervalKind::kRelative,
           "goes with a counter, but is neither absolute nor relative");
  switch (interval.kind) {
    case IntervalKind::kAll:
      rejectIf(interval.start != 0 || interval.length != 0,
               "the whole axis has start 0 and length 0, not ", interval.start, " and ",
               interval.length);
      return;
    case IntervalKind::kAbsolute:
      rejectIf(interval.start < 0 || static_cast<std::uint32_t>(interval.start) >= axis.size,
               "start ", interval.start, " is outside (size ", axis.size, ")");
      break;
    case IntervalKind::kRelative:
    case IntervalKind::kPlusShift:
    case IntervalKind::kMinusShift:
      break;
    case IntervalKind::kRoot:
    case IntervalKind::kFromRoot:
    case IntervalKind::kToRoot:
    case IntervalKind::kRootWithin:
      return validateRootRelative(interval, axis, may_be_root_relative);
    default:
      reject("interval kind ", static_cast<unsigned>(interval.kind), " is unknown");
  }
  rejectIf(interval.length < 1 || interval.length > axis.size, "length ", interval.length,
           " must be 1 to ", axis.size);
  rejectIf(interval.kind == IntervalKind::kAbsolute && !axis.wraps() &&
               static_cast<std::uint32_t>(interval.start) > axis.size - interval.length,
           interval.start, ":", interval.length, " leaves the mesh (size ", axis.size, ")");
}

void validateBoxes(const ScheduleView& schedule) {
  const Topology& topology = schedule.topology;
  checkEach("box", schedule.boxes, [&](const Box& box) {
    for (std::uint32_t axis = 0; axis < kMaxAxes; ++axis) {
      const Interval& interval = box[axis];
      if (axis >= topology.axis_count) {
        rejectIf(interval != Interval::all(), "axis ", axis, " does not exist but is not *");
        continue;
      }
      const auto check = [&] {
        rejectIf(interval.loop != 0 && schedule.loops.empty(),
                 "goes with the counter of a loop, and there is none");
        // Where nothing is dead, proofs leave out roots on lines (ir/verifier/roots/roots.h).
        rejectIf(interval.kind == IntervalKind::kForRoots && !topology.isDamaged(),
                 "is for some roots, but nothing is dead");
        validateInterval(interval, topology.axes[axis],
                         rowOf(schedule.collective).isRooted() && !countsFromRoot(schedule, axis));
      };
      within(check, "on ", topology.axes[axis].name);
    }
  });
}

/// Checks that box number `box` exists and does not count from the root.
void validateNodes(const ScheduleView& schedule, std::uint32_t box) {
  checkExists("box ", box, schedule.boxes.size());
  rejectIf(isRootRelative(schedule.boxes[box]), "box ", box, " is root-relative");
}

void validatePairs(const ScheduleView& schedule) {
  rejectIf(!schedule.hasPairs() && !schedule.pairs.empty(), "has pairs of boxes: the blocks of ",
           rowOf(schedule.collective).name, " have one owner");
  checkEach("pair", schedule.pairs, [&](const BoxPair& pair) {
    validateNodes(schedule, pair.source);
    validateNodes(schedule, pair.destination);
  });
}

/// Checks that box number `box` of a piece exists and has blocks.
void validateBlockBox(const ScheduleView& schedule, std::uint32_t box) {
  if (!schedule.hasPairs()) return validateNodes(schedule, box);
  checkExists("pair ", box, schedule.pairs.size());
}

void validatePieces(const ScheduleView& schedule, std::uint32_t part_count) {
  checkEach("piece", schedule.pieces, [&](const Piece& piece) {
    rejectIf(piece.parts < 1, "has no parts");
    const std::uint64_t last = std::uint64_t{piece.part} + piece.parts - 1;
    checkExists("part ", last, part_count);
    validateBlockBox(schedule, piece.box);
  });
}

void validateShift(const Topology& topology, const Shift& shift) {
  for (std::uint32_t axis = 0; axis < kMaxAxes; ++axis) {
    if (axis >= topology.axis_count) {
      rejectIf(shift[axis] != 0, "axis ", axis, " does not exist but is not 0");
      continue;
    }
    const std::int64_t size = topology.axes[axis].size;
    rejectIf(shift[axis] <= -size || shift[axis] >= size, shift[axis], " on ",
             topology.axes[axis].name, " goes all the way round (size ", size, ")");
  }
  rejectIf(shift == Shift{}, "leads to the node itself");
}

void validatePeerLoop(const Topology& topology, const PeerLoop& peers) {
  for (std::uint32_t axis = 0; axis < kMaxAxes; ++axis) {
    if (axis >= topology.axis_count) {
      rejectIf(peers.first[axis] != 0 || peers.count[axis] != 0, "axis ", axis,
               " does not exist but has shifts");
      continue;
    }
    const std::int64_t size = topology.axes[axis].size;
    const char name = topology.axes[axis].name;
    rejectIf(peers.count[axis] < 1 || peers.count[axis] > size, peers.count[axis], " shifts on ",
             name, ", must be 1 to ", size);
    const std::int64_t last = peers.first[axis] + std::int64_t{peers.count[axis]} - 1;
    rejectIf(peers.first[axis] <= -size || last >= size,
             peers.first[axis] <= -size ? peers.first[axis] : last, " on ", name,
             " goes all the way round (size ", size, ")");
  }
  rejectIf(peers.order > PeerOrder::kShuffled, "order ", static_cast<unsigned>(peers.order),
           " is unknown");
  rejectIf(peers.reserved != 0, "the reserved byte is not 0");
  rejectIf(peers.size() == 0, "has no shift but to the node itself");
  rejectIf(topology.isDamaged(), "needs every node and cable, and some are dead");
}

void validateFrames(const ScheduleView& schedule, std::uint32_t part_count, NamedBlocks& named) {
  // Expansion allocates an entry per slot: with more slots than frames a small file would need much
  // memory.
  std::uint64_t copies = 0;
  for (std::size_t i = 0; i < schedule.frames.size(); ++i) {
    rejectIf(schedule.frames[i].copies < 1, "frame ", i, ": has 0 copies");
    copies += schedule.frames[i].copies;
  }
  rejectIf(schedule.slot_count > copies, "has ", schedule.slot_count, " slots for ", copies,
           " frames");
  const BlockAxes axes = schedule.blockAxes();
  const auto countsFromPeer = [](const Interval& interval) {
    return isPeerRelative(interval.kind);
  };
  const bool some_count_from_peer = std::ranges::any_of(schedule.boxes, [&](const Box& box) {
    return std::ranges::any_of(box.axes, countsFromPeer);
  });
  checkEach("frame", schedule.frames, [&](const Frame& frame) {
    validateBlocks(schedule, part_count, frame.part, frame.box, frame.pieces, named);
    if (some_count_from_peer) {
      for (const Piece& piece : schedule.piecesOf(frame)) {
        for (std::uint32_t axis = 0; axis < axes.count(); ++axis) {
          rejectIf(countsFromPeer(schedule.blockInterval(piece.box, axis)), "counts from a peer");
        }
      }
    }
    rejectIf(frame.copies > 1 && schedule.loops.empty(), "has ", frame.copies,
             " copies, and there are no loops");
    // Its own slot is in its group.
    const std::uint64_t last = std::uint64_t{frame.group()} + frame.copies - 1;
    checkExists("slot ", last, schedule.slot_count);
  });
}

/// Indices have 32 bits, and kNone is no index.
void validateTableSizes(const ScheduleView& schedule) {
  forEachTable(
      [&](std::string_view name, const auto& records) {
        rejectIf(records.size() > kNone, name, ": ", records.size(), " records, at most ", kNone);
      },
      schedule);
}

/// Number of records that lists consist of or that name lists.
std::uint64_t recordsOfLists(const ScheduleView& schedule) {
  return schedule.operations.size() + schedule.pieces.size() + schedule.frames.size();
}

// Lists may share pieces, and pieces have many parts: without limits a small file could demand
// unbounded work. Useful schedules name up to 3 pieces and 150 parts for each record.
std::uint64_t mostNamedPieces(const ScheduleView& schedule) {
  return 4096 + 16 * recordsOfLists(schedule);
}
std::uint64_t mostNamedParts(const ScheduleView& schedule) {
  return std::min(kMaxNamedParts, kMaxParts + 1024 * recordsOfLists(schedule));
}

/// Checks the tables that operations use, and the operations; of loops the first iteration.
void validateRecords(const ScheduleView& schedule, std::uint32_t part_count) {
  NamedBlocks named;
  validateBoxes(schedule);
  validatePairs(schedule);
  validatePieces(schedule, part_count);
  const Topology& topology = schedule.topology;
  checkEach("shift", schedule.shifts, [&](const Shift& shift) { validateShift(topology, shift); });
  checkEach("loop over peers", schedule.peer_loops,
            [&](const PeerLoop& peers) { validatePeerLoop(topology, peers); });
  validateFrames(schedule, part_count, named);
  validateOperations(schedule, part_count, named);
}

/// The same for the first three and the last two iterations of every loop. Places and lengths are
/// affine in the counters: a box inside another in two iterations is so in all between them, and
/// boxes equal in two consecutive ones are equal in all, also cyclically. Exception: blocks that
/// span an axis are equal wherever they begin; with a changing length they do so in the first or
/// last iteration alone, and the others are compared among themselves.
void validateEnds(const ScheduleView& schedule, std::uint32_t part_count) {
  const UnrolledLoops ends = unrollLoops(schedule, IterationChoice::kEnds);
  const Status status = statusOf([&] { validateRecords(ends.schedule.view(), part_count); });
  if (status.ok()) return;
  // The message begins with the number of an unrolled record: it is mapped to that of `schedule`.
  const auto [what, index, rest] = recordOf(status.message());
  const bool is_operation = what == "operation";
  const std::vector<std::uint32_t>& sources = is_operation ? ends.operations : ends.frames;
  if ((!is_operation && what != "frame") || index >= sources.size()) throw status;
  std::string iteration;
  if (is_operation) {
    iteration = iterationText(ends.counters[index],
                              LoopNest(schedule).aroundOperation(sources[index]).depth());
    if (!iteration.empty()) iteration.insert(0, " ");
  }
  reject(what, ' ', sources[index], iteration, rest);
}

}  // namespace

void validateBlocks(const ScheduleView& schedule, std::uint32_t part_count, std::uint32_t part,
                    std::uint32_t box, std::uint32_t pieces, NamedBlocks& named) {
  if (pieces == 0) {
    checkExists("part ", part, part_count);
    validateBlockBox(schedule, box);
  } else {
    rejectIf(part != 0, "has pieces and a part of its own, ", part);
    rejectIf(pieces > kMaxPieces, "has ", pieces, " pieces, at most ", kMaxPieces);
    checkExists("piece ", std::uint64_t{box} + pieces - 1, schedule.pieces.size());
    rejectIf(pieces == 1 && schedule.pieces[box].parts == 1,
             "is a list of one piece of one part: has no need of one");
    named.pieces += pieces;
    const std::uint64_t most_pieces = mostNamedPieces(schedule);
    rejectIf(named.pieces > most_pieces, "the lists up to here have more than ", most_pieces,
             " pieces: too many for the schedule's size");
    for (const Piece& piece : schedule.pieces.subspan(box, pieces))
      named.parts += piece.parts;
    const std::uint64_t most_parts = mostNamedParts(schedule);
    rejectIf(named.parts > most_parts, "the pieces up to here have more than ", most_parts,
             " parts");
  }
}

namespace {

void validateAll(const ScheduleView& as_written) {
  std::uint32_t part_count = 0;
  validateHeader(as_written);
  const ScheduleView schedule = asCounted(as_written);
  validateTableSizes(schedule);
  rejectIf(schedule.operations.size() > kMaxOperationRecords,
           "operations: ", schedule.operations.size(), " records, at most ", kMaxOperationRecords);
  validateSegments(schedule);
  validateColors(schedule, part_count);
  if (rowOf(schedule.collective).isOfNeighbours()) validateNeighbours(as_written);
  validateStreams(schedule, part_count);
  validateRecords(schedule, part_count);
  if (schedule.loops.empty() && schedule.iterations.empty()) return;
  validateLoops(schedule);
  if (!schedule.loops.empty()) validateEnds(schedule, part_count);
}

}  // namespace

Status validate(const ScheduleView& schedule) {
  return statusOf([&] { validateAll(schedule); });
}

}  // namespace torc
