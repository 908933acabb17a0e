// Structural validation of a schedule's header and tables, without its operations. Operations
// follow in validate_operations.cc. The time taken is linear in the size of the tables and does not
// depend on the number of nodes.
#include "schedules/validation/validate.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "schedules/loops/loop_nest.h"
#include "schedules/loops/unroll.h"
#include "schedules/neighbours.h"
#include "schedules/root.h"
#include "schedules/validation/validate_loops.h"
#include "schedules/validation/validate_operations.h"
#include "support/message.h"

namespace torc {
namespace {

/// Checks each record by itself; a message begins with its number: "color 3: ".
template <typename Record, typename Check>
Status checkEach(const char* what, std::span<const Record> records, Check check) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Status status = check(records[i]);
    if (!status.ok()) return status.annotated(message(what, ' ', i));
  }
  return {};
}

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
Status validateStrings(const ScheduleView& schedule) {
  const std::string_view name = schedule.name;
  if (name.empty()) return malformed("name: is empty");
  if (name.size() > kMaxNameLength) {
    return malformed("name: has ", name.size(), " characters, at most ", kMaxNameLength);
  }
  if (!isNameStart(name[0])) return malformed("name: must start with a letter or _");
  if (!std::ranges::all_of(name, isNameRest)) {
    return malformed("name: may have letters, digits, _, . and - only");
  }
  if (schedule.producer.size() > kMaxProducerLength) {
    return malformed("producer: has ", schedule.producer.size(), " characters, at most ",
                     kMaxProducerLength);
  }
  if (!std::ranges::all_of(schedule.producer, isPrintable)) {
    return malformed("producer: may have printable ASCII characters only");
  }
  return {};
}

Status validateHeader(const ScheduleView& schedule) {
  const auto collective = static_cast<unsigned>(schedule.collective);
  if (collective >= kCollectiveCount) return malformed("collective ", collective, " is unknown");
  if (const std::uint32_t unknown = schedule.flags & ~kAllScheduleFlags; unknown != 0) {
    return malformed("flags 0x", std::hex, unknown, " are unknown");
  }
  if (Status status = schedule.topology.validate(); !status.ok()) return status;
  if (Status status = validateGraph(schedule.topology, schedule.links); !status.ok()) return status;
  if (schedule.isOnGraph()) {
    if (!schedule.peer_loops.empty()) return malformed("has loops over peers, and a graph");
    if (schedule.flags & kConflictFreePhases)
      return malformed("flags: conflict-free phases are of axes, and not of a graph");
    if (rowOf(schedule.collective).isOfNeighbours())
      return malformed("topology: the neighbours of ", rowOf(schedule.collective).name,
                       " are those of a torus, and not of a graph");
  }
  if (schedule.topology.hasDetours() && !schedule.operations.empty())
    return malformed("topology: detours are of plans, whose rings take them");
  return validateStrings(schedule);
}

Status validateSegments(const ScheduleView& schedule) {
  const std::uint64_t segments = schedule.segments;
  if (segments < 1 || segments > kMaxSegments) {
    return malformed("segments: ", segments, ", must be 1 to ", kMaxSegments);
  }
  const std::uint32_t widest = segments == 1 ? 1 : kMaxSegmentsBefore;
  if (schedule.window < 1 || schedule.window > widest) {
    return malformed("window: ", schedule.window, ", must be 1 to ", widest, " in ", segments,
                     segments == 1 ? " segment" : " segments");
  }
  if (segments == 1) return {};
  // Expansion visits all of these for every segment.
  const struct {
    const char* name;
    std::size_t size;
    std::uint64_t most;
  } tables[] = {{"operations", schedule.operations.size(), kMaxSegmentedOperations},
                {"frames", schedule.frames.size(), kMaxSegmentedOperations},
                {"pieces", schedule.pieces.size(), kMaxSegmentedOperations},
                {"dependences", schedule.dependences.size(), 8 * kMaxSegmentedOperations}};
  for (const auto& table : tables) {
    if (table.size > table.most / segments) {
      return malformed("segments: all ", segments, " have more than ", table.most, " ", table.name);
    }
  }
  return checkEach("piece", schedule.pieces, [](const Piece& piece) {
    return piece.parts <= 1 ? Status()
                            : malformed("has ", piece.parts,
                                        " parts, which do not follow one another in a segment");
  });
}

Status validateColor(const Topology& topology, const Color& color) {
  if (color.weight < 1) return malformed("weight must be at least 1");
  if (color.directions < 1 || color.directions > 2) {
    return malformed("has ", color.directions, " directions, must have 1 or 2");
  }
  if (color.chunks < 1 || color.chunks > kMaxParts) {
    return malformed("has ", color.chunks, " chunks, must have 1 to ", kMaxParts);
  }
  if (color.axis_count != topology.axis_count) {
    return malformed("orders ", color.axis_count, " axes, the topology has ", topology.axis_count);
  }
  std::uint32_t seen = 0;
  for (std::uint32_t i = 0; i < kMaxAxes; ++i) {
    if (i >= color.axis_count) {
      if (color.order[i] != 0) return malformed("order: byte ", i, " is unused but not 0");
      continue;
    }
    if (color.order[i] >= topology.axis_count || (seen >> color.order[i] & 1)) {
      return malformed("order must name every axis once");
    }
    seen |= 1u << color.order[i];
  }
  if (color.reserved != 0) return malformed("reserved bytes are not 0");
  return {};
}

/// Also counts the parts; `ScheduleView::partCount` does so without checks for overflow.
Status validateColors(const ScheduleView& schedule, std::uint32_t& part_count) {
  std::uint64_t weights = 0;
  std::uint64_t parts = 0;
  Status status = checkEach("color", schedule.colors, [&](const Color& color) {
    if (Status own = validateColor(schedule.topology, color); !own.ok()) return own;
    constexpr std::uint64_t kMaxWeights = std::numeric_limits<std::int64_t>::max();
    if (color.weight > kMaxWeights - weights) {
      return malformed("the weights add up to more than ", kMaxWeights);
    }
    weights += color.weight;
    parts += std::uint64_t{color.directions} * color.chunks;
    return parts <= kMaxParts ? Status()
                              : malformed("the schedule has more than ", kMaxParts, " parts");
  });
  part_count = static_cast<std::uint32_t>(parts);
  return status;
}

Status validateStreams(const ScheduleView& schedule, std::uint32_t part_count) {
  return checkEach("stream", schedule.streams, [&](const Stream& stream) {
    return stream.part < part_count || stream.part == kNone
               ? Status()
               : noSuch("part ", stream.part, part_count);
  });
}

Status validateRootRelative(const Interval& interval, const Axis& axis, bool may_be) {
  if (!may_be) {
    return malformed(
        "is root-relative, but coordinates count from the root there, or there is none");
  }
  const auto size = std::int64_t{axis.size};
  if (interval.start <= -size || interval.start >= size) {
    return malformed("offset ", interval.start, " leaves the axis from any root (size ", size, ")");
  }
  if (hasAbsoluteEnd(interval.kind)) {
    if (interval.length < axis.size) return {};
    return malformed("end ", interval.length, " is outside (size ", axis.size, ")");
  }
  if (interval.length < 1 || interval.length > axis.size) {
    return malformed("length ", interval.length, " must be 1 to ", axis.size);
  }
  if (interval.kind == IntervalKind::kRootWithin &&
      (interval.start < 0 || interval.start + std::int64_t{interval.length} > size)) {
    return malformed("r in ", interval.start, ":", interval.length, " leaves the axis (size ",
                     axis.size, ")");
  }
  return {};
}

Status validateRootSpan(const Interval& interval, const Axis& axis, bool may_be) {
  if (!may_be || !axis.wraps()) {
    return malformed("is for some roots, but the axis does not wrap, coordinates count from the ",
                     "root there, or there is none");
  }
  const RootSpan span = interval.rootSpan();
  if (interval != Interval::forRoots(span)) return malformed("is for some roots, and unknown");
  const auto size = static_cast<std::int32_t>(axis.size);
  if (axis.size > kMostOfRootSpan) {
    return malformed("is for some roots of ", axis.size, " nodes, more than ", kMostOfRootSpan);
  }
  for (const auto& [end, from_root] :
       {std::pair{span.first, span.first_from_root}, std::pair{span.last, span.last_from_root}}) {
    if (end >= size || end < (from_root ? 1 - size : 0))
      return malformed("end ", end, " is outside (size ", size, ")");
  }
  if (span.from >= size || span.to >= size) {
    return malformed("root ", std::max(span.from, span.to), " is outside (size ", size, ")");
  }
  return {};
}

/// Rules for an interval in every use. A relative interval's fit on a mesh depends on the executing
/// nodes, so each operation is checked for it.
Status validateInterval(const Interval& interval, const Axis& axis, bool may_be_root_relative) {
  if (interval.kind == IntervalKind::kForRoots)
    return validateRootSpan(interval, axis, may_be_root_relative);
  const bool still = interval.step == 0 && interval.growth == 0;
  if (interval.loop > kMaxLoopDepth || (interval.loop == 0) != still) {
    return malformed("goes by ", int{interval.step}, " and ", int{interval.growth},
                     " with the counter of a loop of depth ", unsigned{interval.loop});
  }
  if (!still && interval.kind != IntervalKind::kAbsolute &&
      interval.kind != IntervalKind::kRelative) {
    return malformed("goes with a counter, but is neither absolute nor relative");
  }
  switch (interval.kind) {
    case IntervalKind::kAll:
      if (interval.start != 0 || interval.length != 0) {
        return malformed("the whole axis has start 0 and length 0, not ", interval.start, " and ",
                         interval.length);
      }
      return {};
    case IntervalKind::kAbsolute:
      if (interval.start < 0 || static_cast<std::uint32_t>(interval.start) >= axis.size) {
        return malformed("start ", interval.start, " is outside (size ", axis.size, ")");
      }
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
      return malformed("interval kind ", static_cast<unsigned>(interval.kind), " is unknown");
  }
  if (interval.length < 1 || interval.length > axis.size) {
    return malformed("length ", interval.length, " must be 1 to ", axis.size);
  }
  if (interval.kind == IntervalKind::kAbsolute && !axis.wraps() &&
      static_cast<std::uint32_t>(interval.start) > axis.size - interval.length) {
    return malformed(interval.start, ":", interval.length, " leaves the mesh (size ", axis.size,
                     ")");
  }
  return {};
}

Status validateBoxes(const ScheduleView& schedule) {
  const Topology& topology = schedule.topology;
  return checkEach("box", schedule.boxes, [&](const Box& box) {
    for (std::uint32_t axis = 0; axis < kMaxAxes; ++axis) {
      const Interval& interval = box[axis];
      if (axis >= topology.axis_count) {
        if (interval != Interval::all()) {
          return malformed("axis ", axis, " does not exist but is not *");
        }
        continue;
      }
      const Status status = interval.loop != 0 && schedule.loops.empty()
                                ? malformed("goes with the counter of a loop, and there is none")
                                : validateInterval(interval, topology.axes[axis],
                                                   rowOf(schedule.collective).isRooted() &&
                                                       !countsFromRoot(schedule, axis));
      if (!status.ok()) return status.annotated(message("on ", topology.axes[axis].name));
    }
    return Status();
  });
}

/// Checks that box number `box` exists and does not count from the root.
Status validateNodes(const ScheduleView& schedule, std::uint32_t box) {
  if (box >= schedule.boxes.size()) return noSuch("box ", box, schedule.boxes.size());
  if (isRootRelative(schedule.boxes[box])) return malformed("box ", box, " is root-relative");
  return {};
}

Status validatePairs(const ScheduleView& schedule) {
  if (!schedule.hasPairs() && !schedule.pairs.empty()) {
    return malformed("has pairs of boxes: the blocks of ", rowOf(schedule.collective).name,
                     " have one owner");
  }
  return checkEach("pair", schedule.pairs, [&](const BoxPair& pair) {
    Status status = validateNodes(schedule, pair.source);
    return status.ok() ? validateNodes(schedule, pair.destination) : status;
  });
}

/// Checks that box number `box` of a piece exists and has blocks.
Status validateBlockBox(const ScheduleView& schedule, std::uint32_t box) {
  if (!schedule.hasPairs()) return validateNodes(schedule, box);
  if (box >= schedule.pairs.size()) return noSuch("pair ", box, schedule.pairs.size());
  return {};
}

Status validatePieces(const ScheduleView& schedule, std::uint32_t part_count) {
  return checkEach("piece", schedule.pieces, [&](const Piece& piece) {
    if (piece.parts < 1) return malformed("has no parts");
    const std::uint64_t last = std::uint64_t{piece.part} + piece.parts - 1;
    return last < part_count ? validateBlockBox(schedule, piece.box)
                             : noSuch("part ", last, part_count);
  });
}

Status validateShift(const Topology& topology, const Shift& shift) {
  for (std::uint32_t axis = 0; axis < kMaxAxes; ++axis) {
    if (axis >= topology.axis_count) {
      if (shift[axis] != 0) return malformed("axis ", axis, " does not exist but is not 0");
    } else if (std::int64_t size = topology.axes[axis].size;
               shift[axis] <= -size || shift[axis] >= size) {
      return malformed(shift[axis], " on ", topology.axes[axis].name,
                       " goes all the way round (size ", size, ")");
    }
  }
  return shift == Shift{} ? malformed("leads to the node itself") : Status();
}

Status validatePeerLoop(const Topology& topology, const PeerLoop& peers) {
  for (std::uint32_t axis = 0; axis < kMaxAxes; ++axis) {
    if (axis >= topology.axis_count) {
      if (peers.first[axis] != 0 || peers.count[axis] != 0) {
        return malformed("axis ", axis, " does not exist but has shifts");
      }
      continue;
    }
    const std::int64_t size = topology.axes[axis].size;
    const char name = topology.axes[axis].name;
    if (peers.count[axis] < 1 || peers.count[axis] > size) {
      return malformed(peers.count[axis], " shifts on ", name, ", must be 1 to ", size);
    }
    const std::int64_t last = peers.first[axis] + std::int64_t{peers.count[axis]} - 1;
    if (peers.first[axis] <= -size || last >= size) {
      return malformed(peers.first[axis] <= -size ? peers.first[axis] : last, " on ", name,
                       " goes all the way round (size ", size, ")");
    }
  }
  if (peers.order > PeerOrder::kShuffled) {
    return malformed("order ", static_cast<unsigned>(peers.order), " is unknown");
  }
  if (peers.reserved != 0) return malformed("the reserved byte is not 0");
  if (peers.size() == 0) return malformed("has no shift but to the node itself");
  if (topology.isDamaged()) return malformed("needs every node and cable, and some are dead");
  return {};
}

Status validateFrames(const ScheduleView& schedule, std::uint32_t part_count, NamedBlocks& named) {
  // Expansion allocates an entry per slot: with more slots than frames a small file would need much
  // memory.
  std::uint64_t copies = 0;
  for (std::size_t i = 0; i < schedule.frames.size(); ++i) {
    if (schedule.frames[i].copies < 1) return malformed("frame ", i, ": has 0 copies");
    copies += schedule.frames[i].copies;
  }
  if (schedule.slot_count > copies) {
    return malformed("has ", schedule.slot_count, " slots for ", copies, " frames");
  }
  const BlockAxes axes = schedule.blockAxes();
  const auto countsFromPeer = [](const Interval& interval) {
    return isPeerRelative(interval.kind);
  };
  const bool some_count_from_peer = std::ranges::any_of(schedule.boxes, [&](const Box& box) {
    return std::ranges::any_of(box.axes, countsFromPeer);
  });
  return checkEach("frame", schedule.frames, [&](const Frame& frame) {
    if (Status status =
            validateBlocks(schedule, part_count, frame.part, frame.box, frame.pieces, named);
        !status.ok()) {
      return status;
    }
    if (some_count_from_peer) {
      for (const Piece& piece : schedule.piecesOf(frame)) {
        for (std::uint32_t axis = 0; axis < axes.count(); ++axis) {
          if (countsFromPeer(schedule.blockInterval(piece.box, axis))) {
            return malformed("counts from a peer");
          }
        }
      }
    }
    if (frame.copies > 1 && schedule.loops.empty()) {
      return malformed("has ", frame.copies, " copies, and there are no loops");
    }
    // Its own slot is in its group.
    const std::uint64_t last = std::uint64_t{frame.group()} + frame.copies - 1;
    return last < schedule.slot_count ? Status() : noSuch("slot ", last, schedule.slot_count);
  });
}

/// Indices have 32 bits, and kNone is no index.
Status validateTableSizes(const ScheduleView& schedule) {
  Status status;
  forEachTable(
      [&](std::string_view name, const auto& records) {
        if (status.ok() && records.size() > kNone)
          status = malformed(name, ": ", records.size(), " records, at most ", kNone);
      },
      schedule);
  return status;
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
Status validateRecords(const ScheduleView& schedule, std::uint32_t part_count) {
  NamedBlocks named;
  if (Status status = validateBoxes(schedule); !status.ok()) return status;
  if (Status status = validatePairs(schedule); !status.ok()) return status;
  if (Status status = validatePieces(schedule, part_count); !status.ok()) return status;
  const Topology& topology = schedule.topology;
  Status status = checkEach("shift", schedule.shifts,
                            [&](const Shift& shift) { return validateShift(topology, shift); });
  if (!status.ok()) return status;
  status = checkEach("loop over peers", schedule.peer_loops,
                     [&](const PeerLoop& peers) { return validatePeerLoop(topology, peers); });
  if (!status.ok()) return status;
  if (status = validateFrames(schedule, part_count, named); !status.ok()) return status;
  return validateOperations(schedule, part_count, named);
}

/// The same for the first three and the last two iterations of every loop. Places and lengths are
/// affine in the counters: a box inside another in two iterations is so in all between them, and
/// boxes equal in two consecutive ones are equal in all, also cyclically. Exception: blocks that
/// span an axis are equal wherever they begin; with a changing length they do so in the first or
/// last iteration alone, and the others are compared among themselves.
Status validateEnds(const ScheduleView& schedule, std::uint32_t part_count) {
  const UnrolledLoops ends = unrollLoops(schedule, IterationChoice::kEnds);
  Status status = validateRecords(ends.schedule.view(), part_count);
  if (status.ok()) return status;
  // The message begins with the number of an unrolled record: it is mapped to that of `schedule`.
  const struct {
    std::string_view record;
    const std::vector<std::uint32_t>& sources;
  } tables[] = {{"operation ", ends.operations}, {"frame ", ends.frames}};
  const std::string_view text = status.message();
  for (const auto& [record, sources] : tables) {
    std::uint32_t index = 0;
    if (!text.starts_with(record)) continue;
    const char* const digits = text.data() + record.size();
    const auto [rest, error] = std::from_chars(digits, text.data() + text.size(), index);
    if (error != std::errc() || index >= sources.size()) continue;
    const std::string_view what(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
    std::string iteration;
    if (&sources == &ends.operations) {
      iteration = iterationText(ends.counters[index],
                                LoopNest(schedule).aroundOperation(sources[index]).depth());
      if (!iteration.empty()) iteration.insert(0, " ");
    }
    return malformed(record, sources[index], iteration, what);
  }
  return status;
}

}  // namespace

Status validateBlocks(const ScheduleView& schedule, std::uint32_t part_count, std::uint32_t part,
                      std::uint32_t box, std::uint32_t pieces, NamedBlocks& named) {
  if (pieces == 0) {
    if (part >= part_count) return noSuch("part ", part, part_count);
    if (Status status = validateBlockBox(schedule, box); !status.ok()) return status;
  } else {
    if (part != 0) return malformed("has pieces and a part of its own, ", part);
    if (pieces > kMaxPieces) return malformed("has ", pieces, " pieces, at most ", kMaxPieces);
    if (const std::uint64_t last = std::uint64_t{box} + pieces - 1; last >= schedule.pieces.size())
      return noSuch("piece ", last, schedule.pieces.size());
    if (pieces == 1 && schedule.pieces[box].parts == 1) {
      return malformed("is a list of one piece of one part: has no need of one");
    }
    named.pieces += pieces;
    if (const std::uint64_t most = mostNamedPieces(schedule); named.pieces > most) {
      return malformed("the lists up to here have more than ", most,
                       " pieces: too many for the schedule's size");
    }
    for (const Piece& piece : schedule.pieces.subspan(box, pieces))
      named.parts += piece.parts;
    if (const std::uint64_t most = mostNamedParts(schedule); named.parts > most) {
      return malformed("the pieces up to here have more than ", most, " parts");
    }
  }
  return {};
}

Status validate(const ScheduleView& as_written) {
  std::uint32_t part_count = 0;
  if (Status status = validateHeader(as_written); !status.ok()) return status;
  const ScheduleView schedule = asCounted(as_written);
  if (Status status = validateTableSizes(schedule); !status.ok()) return status;
  if (schedule.operations.size() > kMaxOperationRecords) {
    return malformed("operations: ", schedule.operations.size(), " records, at most ",
                     kMaxOperationRecords);
  }
  if (Status status = validateSegments(schedule); !status.ok()) return status;
  if (Status status = validateColors(schedule, part_count); !status.ok()) return status;
  if (rowOf(schedule.collective).isOfNeighbours()) {
    if (Status status = validateNeighbours(as_written); !status.ok()) return status;
  }
  if (Status status = validateStreams(schedule, part_count); !status.ok()) return status;
  Status status = validateRecords(schedule, part_count);
  if (!status.ok() || (schedule.loops.empty() && schedule.iterations.empty())) return status;
  status = validateLoops(schedule);
  return status.ok() && !schedule.loops.empty() ? validateEnds(schedule, part_count) : status;
}

}  // namespace torc
