// The step level of the text form, one function per rule of the grammar in docs/developers/ir.md:
// streams, slots and frames; phases; operations with their regions, peer and dependences.
#include "ir/text/steps_parser.h"

#include <string>
#include <vector>

#include <llvm/ADT/StringExtras.h>

#include "ir/text/format.h"
#include "schedules/loops/loop_nest.h"
#include "schedules/validation/validate.h"

namespace torc::ir {
namespace {

constexpr llvm::StringRef kSegmentWord(&kSegmentCounter, 1);

/// Parses operations.
class OperationParser : public RegionParser {
 public:
  using RegionParser::RegionParser;

  /// Parses an operation and appends it.
  // %17 = recv_reduce out[p0, (x-2)] = in[p0, (x-2)] + f0[(x-2)] from X-1 after %3 when x in 0..5
  void parseOperation(std::uint16_t phase, std::uint32_t stream) {
    const std::size_t place = cursor_.offset();
    const std::uint64_t expected = builder_.schedule().operations.size();
    std::uint64_t number = 0;
    if (cursor_.token().text.drop_front().getAsInteger(10, number) || number != expected) {
      cursor_.failExpected("%" + llvm::Twine(expected) + " (operations are numbered in order)");
    }
    cursor_.advance();
    Operation operation;
    operation.phase = phase;
    operation.stream = stream;
    cursor_.expect("=", "after the operation's number");
    operation.kind = parseKind();
    const OperationKind kind = operation.kind;
    if (!isSignal(kind)) parseRegions(operation);
    if (sends(kind) || receives(kind)) parsePeer(operation);
    dependences_.clear();
    if (cursor_.take("after")) parseDependences();
    if (cursor_.at("when")) operation.guard = parseGuard();
    builder_.addOperation(operation, dependences_);
    places_["operation"].push_back(place);
  }

 private:
  /// Parses the regions of the operation's kind.
  void parseRegions(Operation& operation) {
    const KindRegions& has = regionsOf(operation.kind);
    if (has.dst) operation.dst = parseRegion();
    if (has.dst && has.a) cursor_.expect("=", "after the region written");
    if (has.a) operation.a = parseRegion();
    if (!has.b) return;
    cursor_.expect("+", "and a second region");
    operation.b = parseRegion();
  }

  OperationKind parseKind() {
    static const std::vector<llvm::StringRef> names = namesOf<OperationKind>(kOperationKindCount);
    return static_cast<OperationKind>(cursor_.named("an operation", names));
  }

  // to X+1 Y-2; to X+i Y+j for i in -1..2, j in 0..3 except 0 0 shuffled
  void parsePeer(Operation& operation) {
    const bool sent = sends(operation.kind);
    cursor_.expect(sent ? "to" : "from", "and the peer");
    const std::size_t place = cursor_.offset();
    Shift shift{};
    std::uint32_t seen = 0, shifts = 0;
    do {
      const std::size_t axis_place = cursor_.offset();
      const std::uint32_t axis = cursor_.axis(topology_);
      if (seen >> axis & 1) {
        cursor_.fail(axis_place, llvm::Twine(topology_.axes[axis].name) + " is given twice");
      }
      seen |= 1u << axis;
      const bool negative = cursor_.isMinus();
      const char variable = shiftName(axis);
      if (cursor_.take(llvm::StringRef(&variable, 1))) {
        if (negative == sent) {
          cursor_.fail(axis_place,
                       sent ? "a loop over peers is sent to its shifts: +" + llvm::Twine(variable)
                            : "a loop over peers is received from as far the other way: -" +
                                  llvm::Twine(variable));
        }
        shifts |= 1u << axis;
      } else {
        shift[axis] = cursor_.magnitude(negative, "a step");
      }
    } while (cursor_.token().kind == TokenKind::kWord && llvm::isUpper(cursor_.token().text[0]));
    if (shifts == 0) {
      operation.peer = builder_.shift(shift);
      notePlace("shift", operation.peer, place);
      return;
    }
    if (shifts != seen) {
      cursor_.fail(place,
                   "in a loop over peers every axis has a variable; a step of 1 is i in 1..1");
    }
    operation.peer_kind = PeerKind::kLoop;
    operation.peer = builder_.peerLoop(parsePeerLoop(shifts));
    notePlace("loop over peers", operation.peer, place);
  }

  // for i in -1..2, j in 0..3 except 0 0 shuffled window 32
  PeerLoop parsePeerLoop(std::uint32_t axes) {
    PeerLoop peers;
    cursor_.expect("for", "and the shifts of the loop over peers");
    bool first = true;
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      peers.count[axis] = 1;
      if ((axes >> axis & 1) == 0) continue;
      const char variable = shiftName(axis);
      if (!first) cursor_.expect(",", "and the shifts along the next axis");
      first = false;
      cursor_.expect(llvm::StringRef(&variable, 1), "the next axis's variable");
      cursor_.expect("in");
      peers.first[axis] = parseShift(axis);
      cursor_.expect("..", "and the last shift");
      const std::size_t last_place = cursor_.offset();
      const std::int32_t last = parseShift(axis);
      if (last < peers.first[axis]) cursor_.fail(last_place, "ends before it begins");
      peers.count[axis] = static_cast<std::uint32_t>(last - peers.first[axis]) + 1;
    }
    if (peers.holdsOrigin()) {
      cursor_.expect("except", "and the node itself, which a loop over peers leaves out");
      for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
        if (axes >> axis & 1) cursor_.integer("0, of the node itself", 0, 0);
      }
    }
    if (cursor_.take("shuffled")) peers.order = PeerOrder::kShuffled;
    if (cursor_.take("window"))
      peers.window = static_cast<std::uint16_t>(
          cursor_.integer("the messages that a node sends at a time", 1, kMaxWindow));
    return peers;
  }

  // -3, 4
  std::int32_t parseShift(std::uint32_t axis) {
    const bool negative = cursor_.take("-");
    const std::string what = std::string("a shift on ") + topology_.axes[axis].name;
    const auto shift = cursor_.integer<std::int32_t>(what, 0, topology_.axes[axis].size - 1);
    return negative ? -shift : shift;
  }

  // after %1, %7 of s-1; in a schedule with loops after %7 of i-1, %9 of (i, last), %11 of (s-1, i)
  void parseDependences() {
    const std::uint64_t current = builder_.schedule().operations.size();
    do {
      if (cursor_.token().kind != TokenKind::kOperation) {
        cursor_.failExpected("an operation (%0, %1, ...)");
      }
      std::uint64_t number = 0;
      const Token operation = cursor_.token();
      const bool fits = !operation.text.drop_front().getAsInteger(10, number);
      cursor_.advance();
      const std::size_t place = cursor_.offset();
      Iterations iterations;
      if (cursor_.take("of")) parseInstance(iterations);
      // An earlier iteration or segment may refer to an operation further down; validation checks
      // it.
      const bool earlier = iterations.segments > 0 || iterations.depth > 0;
      if (!fits || number >= (earlier ? kMaxOperationRecords : current)) {
        cursor_.fail(operation.offset, operation.text.take_front(40) + " is not defined above");
      }
      const auto index = static_cast<std::uint32_t>(number);
      dependences_.push_back(earlier ? builder_.dependence(index, iterations) : index);
      if (builder_.schedule().iterations.size() > kMaxIterationRecords) {
        cursor_.fail(place, "operations wait for iterations in more than " +
                                llvm::Twine(kMaxIterationRecords) + " ways");
      }
    } while (cursor_.take(","));
  }

  // i-1, last, (i, last-1), s-1, (s-1, i)
  void parseInstance(Iterations& instance) {
    if (!cursor_.take("(")) {
      return cursor_.at(kSegmentWord) ? parseSegmentBefore(instance) : parseIteration(instance);
    }
    if (cursor_.at(kSegmentWord)) {
      parseSegmentBefore(instance);
      if (!cursor_.take(",")) return cursor_.expect(")", "after the segment");
    }
    do {
      if (instance.depth == kMaxLoopDepth) {
        cursor_.fail(cursor_.offset(), "more than " + llvm::Twine(kMaxLoopDepth) + " loops");
      }
      parseIteration(instance);
    } while (cursor_.take(","));
    cursor_.expect(")", "after the iterations");
  }

  // s-1
  void parseSegmentBefore(Iterations& instance) {
    cursor_.expect(kSegmentWord);
    cursor_.expect("-", "and how many segments before");
    instance.segments =
        cursor_.integer<std::uint16_t>("a number of segments", 1, kMaxSegmentsBefore);
  }

  // j-1, first+2, last-1, last-j, all
  void parseIteration(Iterations& iterations) {
    const std::uint32_t level = iterations.depth++;
    const char counter = counterName(level);
    if (cursor_.take("all")) {
      iterations.origin[level] = IterationOrigin::kAll;
      return;
    }
    if (cursor_.take("first")) {
      iterations.origin[level] = IterationOrigin::kFirst;
    } else if (cursor_.take("last")) {
      iterations.origin[level] = IterationOrigin::kLast;
      if (cursor_.take("-")) {
        if (!cursor_.take(llvm::StringRef(&counter, 1))) {
          iterations.offset[level] = cursor_.magnitude(true, "a number of iterations");
          return;
        }
        iterations.origin[level] = IterationOrigin::kBack;
      }
    } else if (!cursor_.take(llvm::StringRef(&counter, 1))) {
      cursor_.failExpected("a segment (s-1), or an iteration of the loop at this depth (" +
                           llvm::Twine(counter) + "-1, first, last, all)");
    }
    if (cursor_.atSign())
      iterations.offset[level] = cursor_.signedInteger("a number of iterations");
  }

  std::vector<std::uint32_t> dependences_;  // of the current operation
};

class StepsParser : public OperationParser {
 public:
  using OperationParser::OperationParser;

  void parse() {
    while (cursor_.at("stream"))
      parseStream();
    if (cursor_.at("slots")) parseSlots();
    while (cursor_.at("frame"))
      parseFrame();
    if (cursor_.at("for")) return parseSegments();
    while (cursor_.at("phase"))
      parsePhase();
  }

 private:
  // stream 0 of p0 core 0, stream 0 of * core 0
  void parseStream() {
    const std::size_t place = cursor_.offset();
    const std::uint64_t expected = builder_.schedule().streams.size();
    Stream stream;
    cursor_.expect("stream");
    cursor_.numbered(expected, "streams");
    cursor_.expect("of", "and the stream's part");
    stream.part = cursor_.take("*") ? kNone : cursor_.indexed('p', "part", part_count_);
    if (cursor_.take("core")) stream.core = cursor_.integer("a core");
    builder_.addStream(stream);
    places_["stream"].push_back(place);
  }

  // slots 4
  void parseSlots() {
    places_["slots"] = {cursor_.offset()};
    cursor_.expect("slots");
    builder_.schedule().slot_count = cursor_.integer("the number of slots");
  }

  // frame f0 = p0 (x+2, *, *) in slot 0, frame f0 = p0 (x-i, *, *) in slots 0..1 from 1,
  // frame f1 = p0 (x, *, *), (x+1, *, *), p1:2 (x, *, *) in slot 1
  void parseFrame() {
    const std::size_t place = cursor_.offset();
    const auto number = static_cast<std::uint32_t>(builder_.schedule().frames.size());
    const std::string name = "f" + std::to_string(number);
    cursor_.expect("frame");
    if (!cursor_.at(name)) cursor_.failExpected(name + " (frames are numbered in order)");
    cursor_.advance();
    cursor_.expect("=", "after the frame's name");
    parseFramePieces();
    cursor_.expect("in", "and the frame's slot");
    const bool several = cursor_.take("slots");
    if (!several) cursor_.expect("slot");
    const std::size_t slot_place = cursor_.offset();
    const std::uint32_t slots = builder_.schedule().slot_count;
    std::uint32_t slot = cursor_.integer("a slot"), last = slot;
    if (several) {
      cursor_.expect("..", "and the slot of the last copy");
      last = cursor_.integer("a slot", slot + 1ull, slot + std::uint64_t{0xffff} - 1);
    }
    if (last >= slots) {
      cursor_.fail(slot_place, "slot " + llvm::Twine(last) + " does not exist (schedule has " +
                                   llvm::Twine(slots) + ")");
    }
    const std::uint32_t copies = last - slot + 1;
    if (slot % copies != 0) {
      cursor_.fail(slot_place, "the slots of " + llvm::Twine(copies) +
                                   " copies begin at a multiple of " + llvm::Twine(copies));
    }
    if (several && cursor_.take("from")) slot = cursor_.integer("one of these slots", slot, last);
    builder_.addFrame(pieces_, slot, copies);
    places_["frame"].push_back(place);
  }

  // for s in 0..439 window 4 { phase 0 { ... } ... }
  void parseSegments() {
    places_["segments"] = {cursor_.offset()};
    Schedule& schedule = builder_.schedule();
    cursor_.expect("for");
    cursor_.expect(kSegmentWord, "the counter of segments");
    cursor_.expect("in");
    cursor_.integer("0, the first segment", 0, 0);
    cursor_.expect("..", "and the number of the last segment");
    schedule.segments = cursor_.integer("the number of a segment", 1, kMaxSegments - 1) + 1;
    cursor_.expect("window", "and how many segments have scratch at a time");
    schedule.window = cursor_.integer("a number of segments", 1, kMaxSegmentsBefore);
    cursor_.expect("{", "after the loop");
    while (cursor_.at("phase"))
      parsePhase();
    cursor_.expect("}", "after the last phase");
  }

  // phase 0 { stream 0 { ... } ... }
  void parsePhase() {
    cursor_.expect("phase");
    const auto phase = cursor_.integer<std::uint16_t>("the number of a phase");
    cursor_.expect("{", "after the phase");
    parseStreams(phase);
  }

  // stream 0 { ... } for i in 0..5 { stream 1 { ... } ... } }
  void parseStreams(std::uint16_t phase) {
    while (!cursor_.at("}")) {
      if (cursor_.at("stream")) {
        parseBlock(phase);
      } else if (cursor_.at("for")) {
        parseLoop([&] { parseStreams(phase); });
      } else {
        cursor_.failExpected("'stream', 'for' or '}'");
      }
    }
    cursor_.expect("}");
  }

  // for i in 0..61 { ... }
  template <typename ParseBody>
  void parseLoop(ParseBody parseBody) {
    const std::size_t place = cursor_.offset();
    cursor_.expect("for");
    const std::uint32_t depth = depth_;
    if (depth == kMaxLoopDepth) {
      cursor_.fail(place, "more than " + llvm::Twine(kMaxLoopDepth) + " loops in one another");
    }
    const char counter = counterName(depth);
    cursor_.expect(llvm::StringRef(&counter, 1), "the counter of a loop at this depth");
    cursor_.expect("in");
    cursor_.integer("0, where a loop begins to count", 0, 0);
    cursor_.expect("..", "and the number of the last iteration");
    const std::uint32_t last =
        cursor_.integer("the number of an iteration", 0, kMaxLoopOperations - 1);
    cursor_.expect("{", "after the loop");
    places_["loop"].push_back(place);
    builder_.beginLoop(last + 1);
    depth_ = depth + 1;
    parseBody();
    depth_ = depth;
    builder_.endLoop();
  }

  void parseBlock(std::uint16_t phase) {
    const std::uint64_t streams = builder_.schedule().streams.size();
    cursor_.expect("stream");
    const std::size_t place = cursor_.offset();
    const std::uint32_t stream = cursor_.integer("the number of a stream");
    if (stream >= streams) {
      cursor_.fail(place, "stream " + llvm::Twine(stream) + " does not exist (schedule has " +
                              llvm::Twine(streams) + ")");
    }
    cursor_.expect("{", "after the stream");
    parseOperations(phase, stream);
  }

  void parseOperations(std::uint16_t phase, std::uint32_t stream) {
    while (!cursor_.at("}")) {
      if (cursor_.token().kind == TokenKind::kOperation) {
        parseOperation(phase, stream);
      } else if (cursor_.at("for")) {
        parseLoop([&] { parseOperations(phase, stream); });
      } else {
        cursor_.failExpected("an operation, 'for' or '}'");
      }
    }
    cursor_.expect("}");
  }
};

}  // namespace

void parseSteps(TextCursor& cursor, ScheduleBuilder& builder, RecordPlaces& places) {
  StepsParser(cursor, builder, places).parse();
}

}  // namespace torc::ir
