// The step level of the text form, one function per rule of the grammar in docs/developers/ir.md.
#include "ir/text/steps_parser.h"

#include "ir/text/format.h"
#include "schedules/loops/loop_nest.h"
#include "schedules/validation/validate.h"

namespace torc::ir {

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
  } else if (!cursor_.indexed(stream.part, 'p', "part", regions_.partCount())) {
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
  if (!cursor_.expect("=", "after the frame's name") || !regions_.parseFramePieces() ||
      !cursor_.expect("in", "and the frame's slot")) {
    return false;
  }
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
  builder_.addFrame(regions_.pieces(), slot, copies);
  places_.frames.push_back(place);
  return true;
}

// for s in 0..439 window 4 { phase 0 { ... } ... }
bool StepsParser::parseSegments() {
  places_.segments = cursor_.offset();
  Schedule& schedule = builder_.schedule();
  std::uint32_t zero = 0, last = 0;
  if (!cursor_.expect("for") || !cursor_.expect(kSegmentWord, "the counter of segments") ||
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
  const std::uint32_t depth = regions_.depth();
  if (depth == kMaxLoopDepth) {
    return cursor_.fail(place, "more than " + llvm::Twine(kMaxLoopDepth) + " loops in one another");
  }
  const char counter = counterName(depth);
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
  regions_.setDepth(depth + 1);
  if (!parseBody()) return false;
  regions_.setDepth(depth);
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
      if (!operations_.parse(phase, stream)) return false;
    } else if (cursor_.at("for")) {
      if (!parseLoop([&] { return parseOperations(phase, stream); })) return false;
    } else {
      return cursor_.failExpected("an operation, 'for' or '}'");
    }
  }
  return cursor_.expect("}");
}

}  // namespace torc::ir
