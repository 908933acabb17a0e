// The step level of the text form, one function per rule of the grammar in docs/developers/ir.md.
#include "ir/text/steps_parser.h"

#include <limits>
#include <utility>

#include <llvm/ADT/StringExtras.h>

#include "ir/text/format.h"
#include "schedules/loops/loop_nest.h"
#include "schedules/validation/validate.h"

namespace torc::ir {
namespace {

constexpr llvm::StringRef kSegment(&kSegmentCounter, 1);

}  // namespace

bool StepsParser::parse() {
  while (cursor_.at("stream")) {
    if (!parseStream()) return false;
  }
  if (cursor_.at("slots") && !parseSlots()) return false;
  while (cursor_.at("frame")) {
    if (!parseFrame()) return false;
  }
  if (cursor_.at("for")) return parseSegments();
  while (cursor_.at("phase")) {
    if (!parsePhase()) return false;
  }
  return true;
}

// stream 0 of p0 core 0, stream 0 of * core 0
bool StepsParser::parseStream() {
  const std::size_t place = cursor_.offset();
  const std::uint64_t expected = builder_.schedule().streams.size();
  Stream stream;
  if (!cursor_.expect("stream") || !cursor_.numbered(expected, "streams") ||
      !cursor_.expect("of", "and the stream's part")) {
    return false;
  }
  if (cursor_.take("*")) {
    stream.part = kNone;
  } else if (!cursor_.indexed(stream.part, 'p', "part", part_count_)) {
    return false;
  }
  if (cursor_.take("core") && !cursor_.integer(stream.core, "a core")) return false;
  builder_.addStream(stream);
  places_.streams.push_back(place);
  return true;
}

// slots 4
bool StepsParser::parseSlots() {
  places_.slots = cursor_.offset();
  return cursor_.expect("slots") &&
         cursor_.integer(builder_.schedule().slot_count, "the number of slots");
}

// frame f0 = p0 (x+2, *, *) in slot 0, frame f0 = p0 (x-i, *, *) in slots 0..1 from 1, frame f1 =
// p0 (x, *, *), (x+1, *, *), p1:2 (x, *, *) in slot
// 1
bool StepsParser::parseFrame() {
  const std::size_t place = cursor_.offset();
  const auto number = static_cast<std::uint32_t>(builder_.schedule().frames.size());
  const std::string name = "f" + std::to_string(number);
  std::uint32_t slot = 0;
  if (!cursor_.expect("frame")) return false;
  if (!cursor_.at(name)) return cursor_.failExpected(name + " (frames are numbered in order)");
  cursor_.advance();
  depth_ = kMaxLoopDepth;  // of the loops that will use it
  const bool parsed = cursor_.expect("=", "after the frame's name") && parsePieces(false, nullptr);
  depth_ = 0;
  if (!parsed || !cursor_.expect("in", "and the frame's slot")) return false;
  const bool several = cursor_.take("slots");
  if (!several && !cursor_.expect("slot")) return false;
  const std::size_t slot_place = cursor_.offset();
  const std::uint32_t slots = builder_.schedule().slot_count;
  if (!cursor_.integer(slot, "a slot")) return false;
  std::uint32_t last = slot;
  if (several &&
      (!cursor_.expect("..", "and the slot of the last copy") ||
       !cursor_.integer(last, "a slot", slot + 1ull, slot + std::uint64_t{0xffff} - 1))) {
    return false;
  }
  if (last >= slots) {
    return cursor_.fail(slot_place, "slot " + llvm::Twine(last) + " does not exist (schedule has " +
                                        llvm::Twine(slots) + ")");
  }
  const std::uint32_t copies = last - slot + 1;
  if (slot % copies != 0) {
    return cursor_.fail(slot_place, "the slots of " + llvm::Twine(copies) +
                                        " copies begin at a multiple of " + llvm::Twine(copies));
  }
  if (several && cursor_.take("from") && !cursor_.integer(slot, "one of these slots", slot, last)) {
    return false;
  }
  builder_.addFrame(pieces_, slot, copies);
  places_.frames.push_back(place);
  return true;
}

// for s in 0..439 window 4 { phase 0 { ... } ... }
bool StepsParser::parseSegments() {
  places_.segments = cursor_.offset();
  Schedule& schedule = builder_.schedule();
  std::uint32_t zero = 0, last = 0;
  if (!cursor_.expect("for") || !cursor_.expect(kSegment, "the counter of segments") ||
      !cursor_.expect("in") || !cursor_.integer(zero, "0, the first segment", 0, 0) ||
      !cursor_.expect("..", "and the number of the last segment") ||
      !cursor_.integer(last, "the number of a segment", 1, kMaxSegments - 1) ||
      !cursor_.expect("window", "and how many segments have scratch at a time") ||
      !cursor_.integer(schedule.window, "a number of segments", 1, kMaxSegmentsBefore) ||
      !cursor_.expect("{", "after the loop")) {
    return false;
  }
  schedule.segments = last + 1;
  while (cursor_.at("phase")) {
    if (!parsePhase()) return false;
  }
  return cursor_.expect("}", "after the last phase");
}

// phase 0 { stream 0 { ... } ... }
bool StepsParser::parsePhase() {
  std::uint16_t phase = 0;
  if (!cursor_.expect("phase") || !cursor_.integer(phase, "the number of a phase") ||
      !cursor_.expect("{", "after the phase")) {
    return false;
  }
  return parseStreams(phase);
}

// stream 0 { ... } for i in 0..5 { stream 1 { ... } ... } }
bool StepsParser::parseStreams(std::uint16_t phase) {
  while (!cursor_.at("}")) {
    if (cursor_.at("stream")) {
      if (!parseBlock(phase)) return false;
    } else if (cursor_.at("for")) {
      if (!parseLoop([&] { return parseStreams(phase); })) return false;
    } else {
      return cursor_.failExpected("'stream', 'for' or '}'");
    }
  }
  return cursor_.expect("}");
}

// for i in 0..61 { ... }
template <typename ParseBody>
bool StepsParser::parseLoop(ParseBody parseBody) {
  const std::size_t place = cursor_.offset();
  if (!cursor_.expect("for")) return false;
  if (depth_ == kMaxLoopDepth) {
    return cursor_.fail(place, "more than " + llvm::Twine(kMaxLoopDepth) + " loops in one another");
  }
  const char counter = counterName(depth_);
  std::uint32_t zero = 0, last = 0;
  if (!cursor_.expect(llvm::StringRef(&counter, 1), "the counter of a loop at this depth") ||
      !cursor_.expect("in")) {
    return false;
  }
  if (!cursor_.integer(zero, "0, where a loop begins to count", 0, 0) ||
      !cursor_.expect("..", "and the number of the last iteration") ||
      !cursor_.integer(last, "the number of an iteration", 0, kMaxLoopOperations - 1)) {
    return false;
  }
  if (!cursor_.expect("{", "after the loop")) return false;
  places_.loops.push_back(place);
  builder_.beginLoop(last + 1);
  ++depth_;
  if (!parseBody()) return false;
  --depth_;
  builder_.endLoop();
  return true;
}

bool StepsParser::parseBlock(std::uint16_t phase) {
  const std::uint64_t streams = builder_.schedule().streams.size();
  std::uint32_t stream = 0;
  if (!cursor_.expect("stream")) return false;
  const std::size_t place = cursor_.offset();
  if (!cursor_.integer(stream, "the number of a stream")) return false;
  if (stream >= streams) {
    return cursor_.fail(place, "stream " + llvm::Twine(stream) + " does not exist (schedule has " +
                                   llvm::Twine(streams) + ")");
  }
  if (!cursor_.expect("{", "after the stream")) return false;
  return parseOperations(phase, stream);
}

bool StepsParser::parseOperations(std::uint16_t phase, std::uint32_t stream) {
  while (!cursor_.at("}")) {
    if (cursor_.token().kind == TokenKind::kOperation) {
      if (!parseOperation(phase, stream)) return false;
    } else if (cursor_.at("for")) {
      if (!parseLoop([&] { return parseOperations(phase, stream); })) return false;
    } else {
      return cursor_.failExpected("an operation, 'for' or '}'");
    }
  }
  return cursor_.expect("}");
}

// %17 = recv_reduce out[p0, (x-2, *)] = in[p0, (x-2, *)] + f0[(x-2, *)] from X-1 after %3 when y =
// 0
bool StepsParser::parseOperation(std::uint16_t phase, std::uint32_t stream) {
  const std::size_t place = cursor_.offset();
  const std::uint64_t expected = builder_.schedule().operations.size();
  std::uint64_t number = 0;
  if (cursor_.token().text.drop_front().getAsInteger(10, number) || number != expected) {
    return cursor_.failExpected("%" + llvm::Twine(expected) +
                                " (operations are numbered in order)");
  }
  cursor_.advance();
  Operation operation;
  operation.phase = phase;
  operation.stream = stream;
  if (!cursor_.expect("=", "after the operation's number") || !parseKind(operation.kind)) {
    return false;
  }
  const OperationKind kind = operation.kind;
  if (!isSignal(kind) && !parseRegions(operation)) return false;
  if ((sends(kind) || receives(kind)) && !parsePeer(operation)) return false;
  dependences_.clear();
  if (cursor_.take("after") && !parseDependences()) return false;
  if (cursor_.at("when") && !parseGuard(operation.guard)) return false;
  builder_.addOperation(operation, dependences_);
  places_.operations.push_back(place);
  return true;
}

/// Those that its kind has.
bool StepsParser::parseRegions(Operation& operation) {
  const OperationKind kind = operation.kind;
  if (!sends(kind) && !parseRegion(operation.dst)) return false;
  if (kind != OperationKind::kRecv) {
    if (!sends(kind) && !cursor_.expect("=", "after the region written")) return false;
    if (!parseRegion(operation.a)) return false;
  }
  if (kind == OperationKind::kRecvReduce || kind == OperationKind::kReduce) {
    if (!cursor_.expect("+", "and a second region") || !parseRegion(operation.b)) return false;
  }
  return true;
}

bool StepsParser::parseKind(OperationKind& kind) {
  for (int i = 0; i < kOperationKindCount; ++i) {
    kind = static_cast<OperationKind>(i);
    if (cursor_.take(name(kind))) return true;
  }
  return cursor_.failExpected("send, recv, recv_reduce, reduce, copy, notify or await");
}

// in[p0, (x-1, *)], out[p0:2, (x-1, *), (x+1, *), p3, (x, *)], f0[(x-1, *)], f0[*]
bool StepsParser::parseRegion(Region& region) {
  if (cursor_.take("in")) {
    region.buffer = Buffer::kIn;
  } else if (cursor_.take("out")) {
    region.buffer = Buffer::kOut;
  } else if (cursor_.token().text.starts_with("f") &&
             llvm::all_of(cursor_.token().text.drop_front(), llvm::isDigit)) {
    return parseScratch(region);
  } else {
    return cursor_.failExpected("a region: in[...], out[...] or a frame's f0[...]");
  }
  if (!cursor_.expect("[", "after the buffer") || !parsePieces(true, nullptr)) return false;
  region = builder_.region(region.buffer, pieces_);
  return cursor_.expect("]", "after the box");
}

bool StepsParser::parseScratch(Region& region) {
  const auto& frames = builder_.schedule().frames;
  std::uint32_t index = 0;
  if (!cursor_.indexed(index, 'f', "frame", frames.size()) ||
      !cursor_.expect("[", "after the buffer")) {
    return false;
  }
  const Frame& frame = frames[index];
  if (cursor_.take("*")) {
    region = wholeFrame(frame, index);
    return cursor_.expect("]", "after '*', the whole frame");
  }
  // The part need not be said where a frame has but one.
  const Piece of_frame{frame.part, 1, frame.box};
  if (!parsePieces(true, frame.pieces == 0 ? &of_frame : nullptr)) return false;
  region = builder_.region(Buffer::kScratch, pieces_, index);
  return cursor_.expect("]", "after the box");
}

// p0 (x-1, *), (x+1, *), p3 (x, *); with `comma`, one behind the parts too. Those of `frame`, if it
// is given, may be left out.
bool StepsParser::parsePieces(bool comma, const Piece* frame) {
  pieces_.clear();
  Piece piece;
  if (frame != nullptr) piece = *frame;
  do {
    if (!cursor_.at("(") || (pieces_.empty() && frame == nullptr)) {
      if (!parseParts(piece) || (comma && !cursor_.expect(",", "after the part"))) return false;
    }
    if (pieces_.size() == kMaxPieces) {
      return cursor_.fail(cursor_.offset(), "more than " + llvm::Twine(kMaxPieces) + " pieces");
    }
    if (!parseBlocks(piece.box)) return false;
    pieces_.push_back(piece);
  } while (cursor_.take(","));
  return true;
}

// p0, p2:3
bool StepsParser::parseParts(Piece& piece) {
  const std::size_t place = cursor_.offset();
  piece.parts = 1;
  if (!cursor_.indexed(piece.part, 'p', "part", part_count_)) return false;
  if (!cursor_.take(":")) return true;
  if (!cursor_.integer(piece.parts, "the number of parts", 1)) return false;
  if (piece.parts <= part_count_ - piece.part) return true;
  return cursor_.fail(place, "part " + llvm::Twine(std::uint64_t{piece.part} + piece.parts - 1) +
                                 " does not exist (schedule has " + llvm::Twine(part_count_) + ")");
}

// (x-1, *, 0:2); of pairs (x, y) -> (x+1, *)
bool StepsParser::parseBlocks(std::uint32_t& index) {
  const std::size_t place = cursor_.offset();
  Box box;
  if (!parseBox(box)) return false;
  const bool pairs = builder_.schedule().view().hasPairs();
  if (!pairs && cursor_.at("->")) {
    return cursor_.fail(cursor_.offset(),
                        "blocks of " + llvm::Twine(rowOf(builder_.schedule().collective).name) +
                            " have one owner, not a source and a destination");
  }
  if (!pairs) {
    index = internBox(box, place);
    return true;
  }
  Box destination;
  if (!cursor_.expect("->", "and the box of the destinations") || !parseBox(destination)) {
    return false;
  }
  index = builder_.pair(box, destination);
  if (index == places_.pairs.size()) places_.pairs.push_back(place);
  places_.boxes.resize(builder_.schedule().boxes.size(), place);
  return true;
}

// (x-1, *, 0:2)
bool StepsParser::parseBox(Box& box) {
  if (!cursor_.expect("(", "and a box")) return false;
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
    if (axis > 0 && !cursor_.take(",")) {
      return cursor_.failExpected("',' and the interval on " +
                                  llvm::Twine(topology_.axes[axis].name));
    }
    if (!parseInterval(axis, box[axis])) return false;
  }
  if (cursor_.at(",")) {
    return cursor_.fail(cursor_.offset(), "the topology has " + llvm::Twine(topology_.axis_count) +
                                              (topology_.axis_count == 1 ? " axis" : " axes") +
                                              ", the box has more");
  }
  return cursor_.expect(")", "after the box");
}

// *, 5, 5:3, x, x-1:2, x+i, x-i+1; in loops x-2-i, 5+2*i:1+i
bool StepsParser::parseInterval(std::uint32_t axis_index, Interval& interval) {
  const Axis& axis = topology_.axes[axis_index];
  if (cursor_.take("*")) return true;
  const char coordinate = coordinateName(axis);
  interval.length = 1;
  if (cursor_.at(llvm::StringRef(&coordinate, 1))) {
    cursor_.advance();
    interval.kind = IntervalKind::kRelative;
    bool negative = cursor_.at("-");
    if (negative || cursor_.at("+")) {
      cursor_.advance();
      const char variable = shiftName(axis_index);
      if (depth_ > 0 && atCounter()) {
        if (!parseCounter(interval, negative ? -1 : 1, interval.step)) return false;
      } else if (depth_ == 0 && cursor_.take(llvm::StringRef(&variable, 1))) {
        interval.kind = negative ? IntervalKind::kMinusShift : IntervalKind::kPlusShift;
        const bool offset = cursor_.at("+") || cursor_.at("-");
        if (offset && !cursor_.signedInteger(interval.start, "an offset")) return false;
      } else if (!cursor_.magnitude(negative, interval.start, "an offset")) {
        return false;
      } else if (cursor_.take("*")) {
        const std::int64_t factor = std::exchange(interval.start, 0);
        if (!parseCounter(interval, factor, interval.step)) return false;
      } else if (!parseTerm(interval, interval.step)) {
        return false;
      }
    }
  } else if (cursor_.token().kind == TokenKind::kInteger) {
    interval.kind = IntervalKind::kAbsolute;
    if (!parseCoordinate(axis, interval.start) || !parseTerm(interval, interval.step)) return false;
  } else {
    return cursor_.failExpected("an interval on " + llvm::Twine(axis.name) + " (*, a number or " +
                                llvm::Twine(coordinate) + ")");
  }
  return !cursor_.take(":") || (cursor_.integer(interval.length, "a length", 1, axis.size) &&
                                parseTerm(interval, interval.growth));
}

bool StepsParser::atCounter() const {
  return cursor_.token().kind == TokenKind::kWord && cursor_.token().text.size() == 1 &&
         cursor_.token().text[0] >= counterName(0) &&
         cursor_.token().text[0] <= counterName(kMaxLoopDepth - 1);
}

bool StepsParser::parseTerm(Interval& interval, std::int8_t& factor) {
  const bool negative = cursor_.at("-");
  if (depth_ == 0 || (!negative && !cursor_.at("+"))) return true;
  cursor_.advance();
  if (atCounter()) return parseCounter(interval, negative ? -1 : 1, factor);
  std::int32_t number = 0;
  return cursor_.magnitude(negative, number, "a counter, or how often it counts") &&
         cursor_.expect("*", "and a counter") && parseCounter(interval, number, factor);
}

// i, behind `number` and a mark
bool StepsParser::parseCounter(Interval& interval, std::int64_t number, std::int8_t& factor) {
  if (!atCounter()) return cursor_.failExpected("the counter of a loop (i, j, ...)");
  const auto loop = static_cast<std::uint8_t>(cursor_.token().text[0] - counterName(0) + 1);
  if (loop > depth_) {
    return cursor_.fail(cursor_.offset(), "there is no loop of this counter around it");
  }
  if (interval.loop != 0 && interval.loop != loop) {
    return cursor_.fail(cursor_.offset(), "an interval goes with one counter");
  }
  if (number == 0 || number < std::numeric_limits<std::int8_t>::min() ||
      number > std::numeric_limits<std::int8_t>::max()) {
    return cursor_.fail(cursor_.offset(),
                        "an interval goes by 1 to 127 a time, not by " + llvm::Twine(number));
  }
  interval.loop = loop;
  factor = static_cast<std::int8_t>(number);
  cursor_.advance();
  return true;
}

// to X+1 Y-2; to X+i Y+j for i in -1..2, j in 0..3 except 0 0 shuffled
bool StepsParser::parsePeer(Operation& operation) {
  const bool sent = sends(operation.kind);
  if (!cursor_.expect(sent ? "to" : "from", "and the peer")) return false;
  const std::size_t place = cursor_.offset();
  Shift shift{};
  std::uint32_t seen = 0, shifts = 0;
  do {
    const std::size_t axis_place = cursor_.offset();
    std::uint32_t axis = 0;
    if (!cursor_.axis(topology_, axis)) return false;
    if (seen >> axis & 1) {
      return cursor_.fail(axis_place, llvm::Twine(topology_.axes[axis].name) + " is given twice");
    }
    seen |= 1u << axis;
    const bool negative = cursor_.at("-");
    if (!negative && !cursor_.at("+")) return cursor_.failExpected("'+' or '-'");
    cursor_.advance();
    const char variable = shiftName(axis);
    if (cursor_.at(llvm::StringRef(&variable, 1))) {
      if (negative == sent) {
        return cursor_.fail(
            axis_place, sent ? "a loop over peers is sent to its shifts: +" + llvm::Twine(variable)
                             : "a loop over peers is received from as far the other way: -" +
                                   llvm::Twine(variable));
      }
      cursor_.advance();
      shifts |= 1u << axis;
    } else if (!cursor_.magnitude(negative, shift[axis], "a step")) {
      return false;
    }
  } while (cursor_.token().kind == TokenKind::kWord && llvm::isUpper(cursor_.token().text[0]));
  if (shifts == 0) {
    operation.peer = builder_.shift(shift);
    if (operation.peer == places_.shifts.size()) places_.shifts.push_back(place);
    return true;
  }
  if (shifts != seen) {
    return cursor_.fail(place,
                        "in a loop over peers every axis has a variable; a step of 1 is i in 1..1");
  }
  PeerLoop peers;
  if (!parsePeerLoop(shifts, peers)) return false;
  operation.peer_kind = PeerKind::kLoop;
  operation.peer = builder_.peerLoop(peers);
  if (operation.peer == places_.peer_loops.size()) places_.peer_loops.push_back(place);
  return true;
}

// for i in -1..2, j in 0..3 except 0 0 shuffled window 32
bool StepsParser::parsePeerLoop(std::uint32_t axes, PeerLoop& peers) {
  if (!cursor_.expect("for", "and the shifts of the loop over peers")) return false;
  bool first = true;
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
    peers.count[axis] = 1;
    if ((axes >> axis & 1) == 0) continue;
    const char variable = shiftName(axis);
    std::int32_t last = 0;
    if (!first && !cursor_.expect(",", "and the shifts along the next axis")) return false;
    first = false;
    if (!cursor_.expect(llvm::StringRef(&variable, 1), "the next axis's variable") ||
        !cursor_.expect("in") || !parseShift(axis, peers.first[axis]) ||
        !cursor_.expect("..", "and the last shift")) {
      return false;
    }
    const std::size_t last_place = cursor_.offset();
    if (!parseShift(axis, last)) return false;
    if (last < peers.first[axis]) return cursor_.fail(last_place, "ends before it begins");
    peers.count[axis] = static_cast<std::uint32_t>(last - peers.first[axis]) + 1;
  }
  if (peers.holdsOrigin()) {
    if (!cursor_.expect("except", "and the node itself, which a loop over peers leaves out"))
      return false;
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      std::uint32_t zero = 0;
      if ((axes >> axis & 1) == 0) continue;
      if (!cursor_.integer(zero, "0, of the node itself", 0, 0)) return false;
    }
  }
  if (cursor_.take("shuffled")) peers.order = PeerOrder::kShuffled;
  if (!cursor_.take("window")) return true;
  return cursor_.integer(peers.window, "the messages that a node sends at a time", 1, kMaxWindow);
}

// -3, 4
bool StepsParser::parseShift(std::uint32_t axis, std::int32_t& shift) {
  const bool negative = cursor_.take("-");
  const std::string what = std::string("a shift on ") + topology_.axes[axis].name;
  if (!cursor_.integer(shift, what, 0, topology_.axes[axis].size - 1)) return false;
  if (negative) shift = -shift;
  return true;
}

// after %1, %7 of s-1; in a schedule with loops after %7 of i-1, %9 of (i, last), %11 of (s-1, i)
bool StepsParser::parseDependences() {
  const std::uint64_t current = builder_.schedule().operations.size();
  do {
    if (cursor_.token().kind != TokenKind::kOperation) {
      return cursor_.failExpected("an operation (%0, %1, ...)");
    }
    std::uint64_t number = 0;
    const Token operation = cursor_.token();
    const bool fits = !operation.text.drop_front().getAsInteger(10, number);
    cursor_.advance();
    const std::size_t place = cursor_.offset();
    Iterations iterations;
    if (cursor_.take("of") && !parseInstance(iterations)) return false;
    // What comes earlier may stand further down: validation sees whether it does.
    const bool earlier = iterations.segments > 0 || iterations.depth > 0;
    if (!fits || number >= (earlier ? kMaxOperationRecords : current)) {
      return cursor_.fail(operation.offset,
                          operation.text.take_front(40) + " is not defined above");
    }
    const auto index = static_cast<std::uint32_t>(number);
    dependences_.push_back(earlier ? builder_.dependence(index, iterations) : index);
    if (builder_.schedule().iterations.size() > kMaxIterationRecords) {
      return cursor_.fail(place, "operations wait for iterations in more than " +
                                     llvm::Twine(kMaxIterationRecords) + " ways");
    }
  } while (cursor_.take(","));
  return true;
}

// i-1, last, (i, last-1), s-1, (s-1, i)
bool StepsParser::parseInstance(Iterations& instance) {
  if (!cursor_.take("(")) {
    return cursor_.at(kSegment) ? parseSegmentBefore(instance) : parseIteration(instance);
  }
  if (cursor_.at(kSegment)) {
    if (!parseSegmentBefore(instance)) return false;
    if (!cursor_.take(",")) return cursor_.expect(")", "after the segment");
  }
  do {
    if (instance.depth == kMaxLoopDepth) {
      return cursor_.fail(cursor_.offset(), "more than " + llvm::Twine(kMaxLoopDepth) + " loops");
    }
    if (!parseIteration(instance)) return false;
  } while (cursor_.take(","));
  return cursor_.expect(")", "after the iterations");
}

// s-1
bool StepsParser::parseSegmentBefore(Iterations& instance) {
  std::uint32_t segments = 0;
  if (!cursor_.expect(kSegment) || !cursor_.expect("-", "and how many segments before") ||
      !cursor_.integer(segments, "a number of segments", 1, kMaxSegmentsBefore)) {
    return false;
  }
  instance.segments = static_cast<std::uint16_t>(segments);
  return true;
}

// j-1, first+2, last-1, last-j, all
bool StepsParser::parseIteration(Iterations& iterations) {
  const std::uint32_t level = iterations.depth++;
  const char counter = counterName(level);
  if (cursor_.take("all")) {
    iterations.origin[level] = IterationOrigin::kAll;
    return true;
  }
  if (cursor_.take("first")) {
    iterations.origin[level] = IterationOrigin::kFirst;
  } else if (cursor_.take("last")) {
    iterations.origin[level] = IterationOrigin::kLast;
    if (cursor_.at("-")) {
      cursor_.advance();
      if (!cursor_.take(llvm::StringRef(&counter, 1))) {
        return cursor_.magnitude(true, iterations.offset[level], "a number of iterations");
      }
      iterations.origin[level] = IterationOrigin::kBack;
    }
  } else if (!cursor_.take(llvm::StringRef(&counter, 1))) {
    return cursor_.failExpected("a segment (s-1), or an iteration of the loop at this depth (" +
                                llvm::Twine(counter) + "-1, first, last, all)");
  }
  if (!cursor_.at("+") && !cursor_.at("-")) return true;
  return cursor_.signedInteger(iterations.offset[level], "a number of iterations");
}

// when x in 1..6, y = 0; root-relative: x = r+2, x = r in 0..6, x in r-1..r+1, x in r+1..6,
// x in 0..r-1
bool StepsParser::parseGuard(std::uint32_t& index) {
  const std::size_t place = cursor_.offset();
  Box guard;
  if (!cursor_.expect("when")) return false;
  if (!cursor_.take("*")) {
    do {
      if (!parseCondition(guard)) return false;
    } while (cursor_.take(","));
  }
  index = internBox(guard, place);
  return true;
}

bool StepsParser::parseCondition(Box& guard) {
  const Token token = cursor_.token();
  for (std::uint32_t i = 0; i < topology_.axis_count; ++i) {
    const Axis& axis = topology_.axes[i];
    const char coordinate = coordinateName(axis);
    if (!token.is(llvm::StringRef(&coordinate, 1))) continue;
    if (guard[i].kind != IntervalKind::kAll) {
      return cursor_.fail(token.offset, llvm::Twine(coordinate) + " is given twice");
    }
    cursor_.advance();
    std::int32_t first = 0;
    bool from_root = false;
    if (cursor_.take("=")) {
      if (!parseEnd(axis, from_root, first)) return false;
      guard[i] = from_root ? Interval::root(first) : Interval::absolute(first);
      if (!from_root) return parseTerm(guard[i], guard[i].step);
      return !(first == 0 && cursor_.at("in")) || parseRootWithin(axis, guard[i]);
    }
    if (!cursor_.at("in")) return cursor_.failExpected("'=' or 'in'");
    cursor_.advance();
    return parseRange(axis, guard[i]);
  }
  if (token.kind != TokenKind::kWord) return cursor_.failExpected("a condition (x = 0, x in 1..6)");
  return cursor_.failCoordinate(topology_, token.offset, token.text);
}

// 1..6, r-1..r+1, r+1..6, 0..r-1, 1+i..6
bool StepsParser::parseRange(const Axis& axis, Interval& interval) {
  std::int32_t first = 0, last = 0;
  bool first_from_root = false, last_from_root = false;
  Interval begins, ends;  // what goes with a counter
  if (!parseEnd(axis, first_from_root, first) ||
      (!first_from_root && !parseTerm(begins, begins.step)) ||
      !cursor_.expect("..", "and the last coordinate")) {
    return false;
  }
  const std::size_t last_place = cursor_.offset();
  ends.loop = begins.loop;
  if (!parseEnd(axis, last_from_root, last) || (!last_from_root && !parseTerm(ends, ends.step))) {
    return false;
  }
  if (first_from_root && last_from_root) {
    if (last < first) return cursor_.fail(last_place, "ends before it begins");
    interval = Interval::root(first, static_cast<std::uint32_t>(last - first) + 1);
  } else if (first_from_root) {
    interval = Interval::fromRoot(first, static_cast<std::uint32_t>(last));
  } else if (last_from_root) {
    interval = Interval::toRoot(static_cast<std::uint32_t>(first), last);
  } else {
    interval = Interval::absolute(first, wrap(std::int64_t{last} - first, axis.size) + 1);
  }
  if (ends.loop == 0) return true;
  if (first_from_root || last_from_root) {
    return cursor_.fail(last_place, "goes with a counter and with the root");
  }
  const int growth = ends.step - begins.step;
  if (growth < std::numeric_limits<std::int8_t>::min() ||
      growth > std::numeric_limits<std::int8_t>::max()) {
    return cursor_.fail(last_place, "grows by more than 127 a time");
  }
  interval.loop = ends.loop;
  interval.step = begins.step;
  interval.growth = static_cast<std::int8_t>(growth);
  return true;
}

// in 0..6, behind x = r
bool StepsParser::parseRootWithin(const Axis& axis, Interval& interval) {
  std::int32_t first = 0, last = 0;
  cursor_.advance();
  if (!parseCoordinate(axis, first) || !cursor_.expect("..", "and the last coordinate")) {
    return false;
  }
  const std::size_t last_place = cursor_.offset();
  if (!parseCoordinate(axis, last)) return false;
  if (last < first) return cursor_.fail(last_place, "ends before it begins");
  interval = Interval::rootWithin(first, static_cast<std::uint32_t>(last - first) + 1);
  return true;
}

// 5, r, r-1
bool StepsParser::parseEnd(const Axis& axis, bool& from_root, std::int32_t& value) {
  from_root = cursor_.take("r");
  if (!from_root) return parseCoordinate(axis, value);
  value = 0;
  return !(cursor_.at("+") || cursor_.at("-")) || cursor_.signedInteger(value, "an offset");
}

bool StepsParser::parseCoordinate(const Axis& axis, std::int32_t& coordinate) {
  const std::string what = std::string("a coordinate on ") + axis.name;
  return cursor_.integer(coordinate, what, 0, axis.size - 1);
}

std::uint32_t StepsParser::internBox(const Box& box, std::size_t place) {
  const std::uint32_t index = builder_.box(box);
  if (index == places_.boxes.size()) places_.boxes.push_back(place);
  return index;
}

}  // namespace torc::ir
