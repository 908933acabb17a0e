// The step level of the text form, one function per rule of the grammar in docs/developers/ir.md.
#include "ir/text/steps_parser.h"

#include "ir/text/format.h"
#include "schedules/loops/loop_nest.h"
#include "schedules/validation/validate.h"

namespace torc::ir {

void StepsParser::parse() {
  while (cursor_.at("stream"))
    parseStream();
  if (cursor_.at("slots")) parseSlots();
  while (cursor_.at("frame"))
    parseFrame();
  if (cursor_.at("for")) return parseSegments();
  while (cursor_.at("phase"))
    parsePhase();
}

// stream 0 of p0 core 0, stream 0 of * core 0
void StepsParser::parseStream() {
  const std::size_t place = cursor_.offset();
  const std::uint64_t expected = builder_.schedule().streams.size();
  Stream stream;
  cursor_.expect("stream");
  cursor_.numbered(expected, "streams");
  cursor_.expect("of", "and the stream's part");
  stream.part = cursor_.take("*") ? kNone : cursor_.indexed('p', "part", regions_.partCount());
  if (cursor_.take("core")) stream.core = cursor_.integer("a core");
  builder_.addStream(stream);
  places_.streams.push_back(place);
}

// slots 4
void StepsParser::parseSlots() {
  places_.slots = cursor_.offset();
  cursor_.expect("slots");
  builder_.schedule().slot_count = cursor_.integer("the number of slots");
}

// frame f0 = p0 (x+2, *, *) in slot 0, frame f0 = p0 (x-i, *, *) in slots 0..1 from 1, frame f1 =
// p0 (x, *, *), (x+1, *, *), p1:2 (x, *, *) in slot
// 1
void StepsParser::parseFrame() {
  const std::size_t place = cursor_.offset();
  const auto number = static_cast<std::uint32_t>(builder_.schedule().frames.size());
  const std::string name = "f" + std::to_string(number);
  cursor_.expect("frame");
  if (!cursor_.at(name)) cursor_.failExpected(name + " (frames are numbered in order)");
  cursor_.advance();
  cursor_.expect("=", "after the frame's name");
  regions_.parseFramePieces();
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
  builder_.addFrame(regions_.pieces(), slot, copies);
  places_.frames.push_back(place);
}

// for s in 0..439 window 4 { phase 0 { ... } ... }
void StepsParser::parseSegments() {
  places_.segments = cursor_.offset();
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
void StepsParser::parsePhase() {
  cursor_.expect("phase");
  const auto phase = cursor_.integer<std::uint16_t>("the number of a phase");
  cursor_.expect("{", "after the phase");
  parseStreams(phase);
}

// stream 0 { ... } for i in 0..5 { stream 1 { ... } ... } }
void StepsParser::parseStreams(std::uint16_t phase) {
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
void StepsParser::parseLoop(ParseBody parseBody) {
  const std::size_t place = cursor_.offset();
  cursor_.expect("for");
  const std::uint32_t depth = regions_.depth();
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
  places_.loops.push_back(place);
  builder_.beginLoop(last + 1);
  regions_.setDepth(depth + 1);
  parseBody();
  regions_.setDepth(depth);
  builder_.endLoop();
}

void StepsParser::parseBlock(std::uint16_t phase) {
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

void StepsParser::parseOperations(std::uint16_t phase, std::uint32_t stream) {
  while (!cursor_.at("}")) {
    if (cursor_.token().kind == TokenKind::kOperation) {
      operations_.parse(phase, stream);
    } else if (cursor_.at("for")) {
      parseLoop([&] { parseOperations(phase, stream); });
    } else {
      cursor_.failExpected("an operation, 'for' or '}'");
    }
  }
  cursor_.expect("}");
}

}  // namespace torc::ir
