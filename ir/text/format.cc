// Writes the pieces of the text form. Indices out of range print as `?`, so that messages about a
// faulty schedule can quote it.
#include "ir/text/format.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>

#include "ir/text/text.h"
#include "schedules/fields.h"
#include "schedules/loops/loop_nest.h"

namespace torc::ir {
namespace {

/// `+3`, `-1`; nothing for 0.
void printOffset(std::int32_t offset, llvm::raw_ostream& out) {
  if (offset > 0) out << '+';
  if (offset != 0) out << offset;
}

/// `+i`, `-2*i`: the term of an iteration of the loop of depth `loop`; nothing for 0.
void printTerm(std::int32_t factor, std::uint32_t loop, llvm::raw_ostream& out) {
  if (factor == 0) return;
  out << (factor > 0 ? '+' : '-');
  if (std::abs(factor) != 1) out << std::abs(factor) << '*';
  out << counterName(loop - 1);
}

/// The last coordinate of an interval that depends on a counter, in the first iteration.
std::int64_t lastOf(const Interval& interval) {
  return std::int64_t{interval.start} + interval.length - 1;
}

/// The blocks of a piece: a box, or `(x) -> (x+1)`.
void printBlocks(const ScheduleView& schedule, std::uint32_t box, llvm::raw_ostream& out) {
  const auto print = [&](std::uint32_t index) {
    if (index < schedule.boxes.size()) {
      printBox(schedule.topology, schedule.boxes[index], out);
    } else {
      out << "(?)";
    }
  };
  if (!schedule.hasPairs()) return print(box);
  const BoxPair pair = box < schedule.pairs.size() ? schedule.pairs[box] : BoxPair{};
  print(pair.source);
  out << " -> ";
  print(pair.destination);
}

void printPeer(const ScheduleView& schedule, const Operation& operation, llvm::raw_ostream& out) {
  out << (sends(operation.kind) ? " to " : " from ");
  if (operation.hasPeerLoop() && operation.peer < schedule.peer_loops.size()) {
    printPeerLoop(schedule.topology, schedule.peer_loops[operation.peer], sends(operation.kind),
                  out);
  } else if (!operation.hasPeerLoop() && operation.peer < schedule.shifts.size()) {
    printShift(schedule.topology, schedule.shifts[operation.peer], out);
  } else {
    out << '?';
  }
}

/// `= r+2`, `= r in 0..6`, `in r-1..r+1`, `in r+1..6`, `in 0..r-1`, `in r+1..5 if r in 6..4`.
void printRootRelative(const Interval& interval, llvm::raw_ostream& out) {
  const RootEnds ends = interval.rootEnds();
  if (interval.kind == IntervalKind::kRootWithin) {
    out << "= r in " << ends.first << ".." << ends.last;
    return;
  }
  const auto printEnd = [&](bool from_root, std::int64_t end) {
    if (!from_root) {
      out << end;
      return;
    }
    out << 'r';
    printOffset(static_cast<std::int32_t>(end), out);
  };
  const bool of_one = interval.kind == IntervalKind::kRoot && interval.length == 1;
  out << (of_one ? "= " : "in ");
  printEnd(ends.first_from_root, ends.first);
  if (of_one) return;
  out << "..";
  printEnd(ends.last_from_root, ends.last);
  if (interval.kind != IntervalKind::kForRoots) return;
  out << " if r in " << interval.rootSpan().from << ".." << interval.rootSpan().to;
}

}  // namespace

char coordinateName(const Axis& axis) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(axis.name)));
}

void printQuoted(std::string_view text, llvm::raw_ostream& out) {
  static constexpr char kDigits[] = "0123456789abcdef";
  out << '"';
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out << '\\' << c;
    } else if (byte >= 0x20 && byte < 0x7f) {
      out << c;
    } else {
      out << "\\x" << kDigits[byte >> 4] << kDigits[byte & 15];
    }
  }
  out << '"';
}

void printDouble(double value, llvm::raw_ostream& out) {
  char digits[32];
  const auto result = std::to_chars(digits, digits + sizeof(digits), value);
  out << llvm::StringRef(digits, static_cast<std::size_t>(result.ptr - digits));
}

char shiftName(std::uint32_t axis) {
  return "ijklmnop"[axis];
}

void printInterval(const Topology& topology, std::uint32_t axis, const Interval& interval,
                   llvm::raw_ostream& out) {
  if (interval.kind == IntervalKind::kAll) {
    out << '*';
    return;
  }
  const bool of_peer = isPeerRelative(interval.kind);
  if (interval.kind == IntervalKind::kRelative || of_peer) {
    out << coordinateName(topology.axes[axis]);
    if (of_peer) out << (interval.kind == IntervalKind::kPlusShift ? '+' : '-') << shiftName(axis);
    printOffset(interval.start, out);
  } else {
    out << interval.start;
  }
  printTerm(interval.step, interval.loop, out);
  if (interval.length == 1 && interval.growth == 0) return;
  out << ':' << interval.length;
  printTerm(interval.growth, interval.loop, out);
}

void printIterations(const Iterations& iterations, llvm::raw_ostream& out) {
  const std::uint32_t depth = std::min<std::uint32_t>(iterations.depth, kMaxLoopDepth);
  const bool in_segments = iterations.segments > 0;
  const bool several = depth + (in_segments ? 1 : 0) > 1;
  out << " of " << (several ? "(" : "");
  if (in_segments) out << kSegmentCounter << '-' << iterations.segments;
  for (std::uint32_t level = 0; level < depth; ++level) {
    if (level > 0 || in_segments) out << ", ";
    const IterationOrigin origin = iterations.origin[level];
    if (origin == IterationOrigin::kOwn) {
      out << counterName(level);
    } else if (origin == IterationOrigin::kBack) {
      out << "last-" << counterName(level);
    } else {
      out << kIterationOriginNames[static_cast<int>(origin)];
    }
    printOffset(iterations.offset[level], out);
  }
  if (several) out << ')';
}

void printBox(const Topology& topology, const Box& box, llvm::raw_ostream& out) {
  out << '(';
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    if (axis > 0) out << ", ";
    printInterval(topology, axis, box[axis], out);
  }
  out << ')';
}

void printShift(const Topology& topology, const Shift& shift, llvm::raw_ostream& out) {
  bool moved = false;
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    if (shift[axis] == 0) continue;
    if (moved) out << ' ';
    out << topology.axes[axis].name;
    printOffset(shift[axis], out);
    moved = true;
  }
  if (!moved) out << "self";
}

void printPeerLoop(const Topology& topology, const PeerLoop& peers, bool sent,
                   llvm::raw_ostream& out) {
  const auto forEachAxis = [&](auto visit) {
    for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
      if (peers.moves(axis)) visit(axis);
    }
  };
  llvm::StringRef separator = "";
  forEachAxis([&](std::uint32_t axis) {
    out << separator << topology.axes[axis].name << (sent ? '+' : '-') << shiftName(axis);
    separator = " ";
  });
  separator = " for ";
  forEachAxis([&](std::uint32_t axis) {
    out << separator << shiftName(axis) << " in " << peers.first[axis] << ".."
        << std::int64_t{peers.first[axis]} + peers.count[axis] - 1;
    separator = ", ";
  });
  if (peers.holdsOrigin()) {
    out << " except";
    forEachAxis([&](std::uint32_t) { out << " 0"; });
  }
  if (peers.order == PeerOrder::kShuffled) out << " shuffled";
  if (peers.window > 0) out << " window " << peers.window;
}

void printGuard(const Topology& topology, const Box& guard, llvm::raw_ostream& out) {
  bool restricted = false;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const Axis& axis = topology.axes[i];
    const Interval& interval = guard[i];
    if (interval.kind == IntervalKind::kAll) continue;
    if (restricted) out << ", ";
    restricted = true;
    out << coordinateName(axis);
    const bool grows = interval.loop != 0 && interval.growth != 0;
    const bool first_last = interval.kind == IntervalKind::kAbsolute && interval.start >= 0 &&
                            static_cast<std::uint32_t>(interval.start) < axis.size &&
                            interval.length >= 1 && interval.length <= axis.size;
    if (isRootRelative(interval.kind)) {
      out << ' ';
      printRootRelative(interval, out);
    } else if (!grows && interval.length == 1) {
      out << " = ";
      printInterval(topology, i, interval, out);
    } else if (grows || first_last) {
      // Cyclic: x in 6..1 is 6, 7, 0, 1 on an axis of 8.
      out << " in " << interval.start;
      printTerm(interval.step, interval.loop, out);
      out << ".." << (grows ? lastOf(interval) : lastOf(interval) % axis.size);
      printTerm(interval.step + (grows ? interval.growth : 0), interval.loop, out);
    } else {
      out << " in ";
      printInterval(topology, i, interval, out);
    }
  }
  if (!restricted) out << '*';
}

void printParts(const Piece& piece, llvm::raw_ostream& out) {
  out << 'p' << piece.part;
  if (piece.parts != 1) out << ':' << piece.parts;
}

void printPieces(const ScheduleView& schedule, const PieceList& pieces, bool comma,
                 llvm::raw_ostream& out) {
  const Piece* before = nullptr;
  for (const Piece& piece : pieces) {
    if (before != nullptr) out << ", ";
    if (before == nullptr || piece.part != before->part || piece.parts != before->parts) {
      printParts(piece, out);
      out << (comma ? ", " : " ");
    }
    printBlocks(schedule, piece.box, out);
    before = &piece;
  }
}

void printRegion(const ScheduleView& schedule, const Region& region, llvm::raw_ostream& out) {
  const bool in_table =
      region.box <= schedule.pieces.size() && region.pieces <= schedule.pieces.size() - region.box;
  switch (region.buffer) {
    case Buffer::kScratch:
      out << 'f';
      if (region.frame == kNone) {
        out << '?';
      } else {
        out << region.frame;
      }
      break;
    case Buffer::kIn:
    case Buffer::kOut:
      out << name(region.buffer);
      break;
    default:
      out << "nothing";
      return;
  }
  out << '[';
  const Frame* frame =
      region.frame < schedule.frames.size() ? &schedule.frames[region.frame] : nullptr;
  if (region.pieces != 0 && !in_table) {
    out << '?';
  } else if (region.buffer == Buffer::kScratch && region.pieces == 0 &&
             (frame == nullptr || frame->pieces == 0)) {
    printBlocks(schedule, region.box, out);  // of the frame's part
  } else if (frame != nullptr && region == wholeFrame(*frame, region.frame)) {
    out << '*';
  } else {
    printPieces(schedule, schedule.piecesOf(region), true, out);
  }
  out << ']';
}

void printOperation(const ScheduleView& schedule, std::uint32_t index, llvm::raw_ostream& out) {
  const Operation& operation = schedule.operations[index];
  out << '%' << index << " = " << name(operation.kind);
  if (!isSignal(operation.kind)) out << ' ';
  const KindRegions& has = regionsOf(operation.kind);
  if (has.dst) printRegion(schedule, operation.dst, out);
  if (has.dst && has.a) out << " = ";
  if (has.a) printRegion(schedule, operation.a, out);
  if (has.b) {
    out << " + ";
    printRegion(schedule, operation.b, out);
  }
  if (sends(operation.kind) || receives(operation.kind)) printPeer(schedule, operation, out);
  llvm::StringRef separator = " after %";
  for (std::uint32_t dependence : schedule.dependencesOf(operation)) {
    out << separator << operationOf(dependence);
    if (const std::uint32_t record = iterationsOf(dependence);
        record > 0 && record <= schedule.iterations.size()) {
      printIterations(schedule.iterations[record - 1], out);
    }
    separator = ", %";
  }
  if (operation.guard != kNone) {
    out << " when ";
    if (operation.guard < schedule.boxes.size()) {
      printGuard(schedule.topology, schedule.boxes[operation.guard], out);
    } else {
      out << '?';
    }
  }
}

std::string regionText(const ScheduleView& schedule, const Region& region) {
  std::string text;
  llvm::raw_string_ostream out(text);
  printRegion(schedule, region, out);
  constexpr std::size_t kLongest = 160;
  if (text.size() > kLongest) text = text.substr(0, kLongest - 4) + "...]";
  return text;
}

std::string boxText(const Topology& topology, const Box& box) {
  std::string text;
  llvm::raw_string_ostream out(text);
  printBox(topology, box, out);
  return text;
}

std::string operationText(const ScheduleView& schedule, std::uint32_t operation) {
  std::string text;
  llvm::raw_string_ostream out(text);
  printOperation(schedule, operation, out);
  return text;
}

}  // namespace torc::ir
