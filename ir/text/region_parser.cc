// Regions: buffers, pieces, boxes with their intervals; and guards, which are boxes.
#include "ir/text/region_parser.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>

#include <llvm/ADT/StringExtras.h>

#include "ir/text/format.h"
#include "schedules/loops/loop_nest.h"

namespace torc::ir {

// in[p0, (x-1, *)], out[p0:2, (x-1, *), (x+1, *), p3, (x, *)], f0[(x-1, *)], f0[*]
Region RegionParser::parseRegion() {
  const llvm::StringRef word = cursor_.token().text;
  if (word.starts_with("f") && llvm::all_of(word.drop_front(), llvm::isDigit))
    return parseScratch();
  const Buffer buffer = cursor_.at("in") ? Buffer::kIn : Buffer::kOut;
  if (!cursor_.take("in") && !cursor_.take("out"))
    cursor_.failExpected("a region (in[...], out[...], f0[...])");
  cursor_.expect("[", "after the buffer");
  parsePieces(true, nullptr);
  cursor_.expect("]", "after the box");
  return builder_.region(buffer, pieces_);
}

Region RegionParser::parseScratch() {
  const auto& frames = builder_.schedule().frames;
  const std::uint32_t index = cursor_.indexed('f', "frame", frames.size());
  cursor_.expect("[", "after the buffer");
  const Frame& frame = frames[index];
  if (cursor_.take("*")) {
    cursor_.expect("]", "after '*', the whole frame");
    return wholeFrame(frame, index);
  }
  // The part may be omitted if a frame has only one.
  const Piece of_frame{frame.part, 1, frame.box};
  parsePieces(true, frame.pieces == 0 ? &of_frame : nullptr);
  cursor_.expect("]", "after the box");
  return builder_.region(Buffer::kScratch, pieces_, index);
}

void RegionParser::parseFramePieces() {
  depth_ = kMaxLoopDepth;  // of the loops that will use it
  parsePieces(false, nullptr);
  depth_ = 0;
}

// p0 (x-1, *), (x+1, *), p3 (x, *); with `comma`, a comma follows the parts too. Parts of `frame`,
// if given, may be omitted.
void RegionParser::parsePieces(bool comma, const Piece* frame) {
  pieces_.clear();
  Piece piece;
  if (frame != nullptr) piece = *frame;
  do {
    if (!cursor_.at("(") || (pieces_.empty() && frame == nullptr)) {
      parseParts(piece);
      if (comma) cursor_.expect(",", "after the part");
    }
    if (pieces_.size() == kMaxPieces) {
      cursor_.fail(cursor_.offset(), "more than " + llvm::Twine(kMaxPieces) + " pieces");
    }
    piece.box = parseBlocks();
    pieces_.push_back(piece);
  } while (cursor_.take(","));
}

// p0, p2:3
void RegionParser::parseParts(Piece& piece) {
  const std::size_t place = cursor_.offset();
  piece.parts = 1;
  piece.part = cursor_.indexed('p', "part", part_count_);
  if (!cursor_.take(":")) return;
  piece.parts = cursor_.integer("the number of parts", 1);
  if (piece.parts <= part_count_ - piece.part) return;
  cursor_.fail(place, "part " + llvm::Twine(std::uint64_t{piece.part} + piece.parts - 1) +
                          " does not exist (schedule has " + llvm::Twine(part_count_) + ")");
}

// (x-1, *, 0:2); of pairs (x, y) -> (x+1, *)
std::uint32_t RegionParser::parseBlocks() {
  const std::size_t place = cursor_.offset();
  const Box box = parseBox();
  const bool pairs = builder_.schedule().view().hasPairs();
  if (!pairs && cursor_.at("->")) {
    cursor_.fail(cursor_.offset(), "blocks of " +
                                       llvm::Twine(rowOf(builder_.schedule().collective).name) +
                                       " have one owner, not a source and a destination");
  }
  if (!pairs) return internBox(box, place);
  cursor_.expect("->", "and the box of the destinations");
  const std::uint32_t index = builder_.pair(box, parseBox());
  notePlace("pair", index, place);
  places_["box"].resize(builder_.schedule().boxes.size(), place);
  return index;
}

// (x-1, *, 0:2)
Box RegionParser::parseBox() {
  Box box;
  cursor_.expect("(", "and a box");
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
    if (axis > 0 && !cursor_.take(",")) {
      cursor_.failExpected("',' and the interval on " + llvm::Twine(topology_.axes[axis].name));
    }
    box[axis] = parseInterval(axis);
  }
  if (cursor_.at(",")) {
    cursor_.fail(cursor_.offset(), "the topology has " + llvm::Twine(topology_.axis_count) +
                                       (topology_.axis_count == 1 ? " axis" : " axes") +
                                       ", the box has more");
  }
  cursor_.expect(")", "after the box");
  return box;
}

// *, 5, 5:3, x, x-1:2, x+i, x-i+1; in loops x-2-i, 5+2*i:1+i
Interval RegionParser::parseInterval(std::uint32_t axis_index) {
  const Axis& axis = topology_.axes[axis_index];
  Interval interval;
  if (cursor_.take("*")) return interval;
  const char coordinate = coordinateName(axis);
  interval.length = 1;
  if (cursor_.take(llvm::StringRef(&coordinate, 1))) {
    interval.kind = IntervalKind::kRelative;
    if (cursor_.atSign()) {
      const bool negative = cursor_.isMinus();
      const char variable = shiftName(axis_index);
      if (depth_ > 0 && atCounter()) {
        parseCounter(interval, negative ? -1 : 1, interval.step);
      } else if (depth_ == 0 && cursor_.take(llvm::StringRef(&variable, 1))) {
        interval.kind = negative ? IntervalKind::kMinusShift : IntervalKind::kPlusShift;
        if (cursor_.atSign()) interval.start = cursor_.signedInteger("an offset");
      } else {
        interval.start = cursor_.magnitude(negative, "an offset");
        if (cursor_.take("*")) {
          parseCounter(interval, std::exchange(interval.start, 0), interval.step);
        } else {
          parseTerm(interval, interval.step);
        }
      }
    }
  } else if (cursor_.token().kind == TokenKind::kInteger) {
    interval.kind = IntervalKind::kAbsolute;
    interval.start = parseCoordinate(axis);
    parseTerm(interval, interval.step);
  } else {
    cursor_.failExpected("an interval on " + llvm::Twine(axis.name) + " (*, a number or " +
                         llvm::Twine(coordinate) + ")");
  }
  if (cursor_.take(":")) {
    interval.length = cursor_.integer("a length", 1, axis.size);
    parseTerm(interval, interval.growth);
  }
  return interval;
}

bool RegionParser::atCounter() const {
  return cursor_.token().kind == TokenKind::kWord && cursor_.token().text.size() == 1 &&
         cursor_.token().text[0] >= counterName(0) &&
         cursor_.token().text[0] <= counterName(kMaxLoopDepth - 1);
}

void RegionParser::parseTerm(Interval& interval, std::int8_t& factor) {
  if (depth_ == 0 || !cursor_.atSign()) return;
  const bool negative = cursor_.isMinus();
  if (atCounter()) return parseCounter(interval, negative ? -1 : 1, factor);
  const std::int32_t number = cursor_.magnitude(negative, "a counter, or how often it counts");
  cursor_.expect("*", "and a counter");
  parseCounter(interval, number, factor);
}

// i, after `number` and a mark
void RegionParser::parseCounter(Interval& interval, std::int64_t number, std::int8_t& factor) {
  if (!atCounter()) cursor_.failExpected("the counter of a loop (i, j, ...)");
  const auto loop = static_cast<std::uint8_t>(cursor_.token().text[0] - counterName(0) + 1);
  if (loop > depth_) {
    cursor_.fail(cursor_.offset(), "there is no loop of this counter around it");
  }
  if (interval.loop != 0 && interval.loop != loop) {
    cursor_.fail(cursor_.offset(), "an interval goes with one counter");
  }
  if (number == 0 || number < std::numeric_limits<std::int8_t>::min() ||
      number > std::numeric_limits<std::int8_t>::max()) {
    cursor_.fail(cursor_.offset(),
                 "an interval goes by 1 to 127 a time, not by " + llvm::Twine(number));
  }
  interval.loop = loop;
  factor = static_cast<std::int8_t>(number);
  cursor_.advance();
}

// when x in 1..6, y = 0; root-relative: x = r+2, x = r in 0..6, x in r-1..r+1, x in r+1..6,
// x in 0..r-1, x in r+1..5 if r in 6..4
std::uint32_t RegionParser::parseGuard() {
  const std::size_t place = cursor_.offset();
  Box guard;
  cursor_.expect("when");
  if (!cursor_.take("*")) {
    do {
      parseCondition(guard);
    } while (cursor_.take(","));
  }
  return internBox(guard, place);
}

void RegionParser::parseCondition(Box& guard) {
  const Token token = cursor_.token();
  for (std::uint32_t i = 0; i < topology_.axis_count; ++i) {
    const Axis& axis = topology_.axes[i];
    const char coordinate = coordinateName(axis);
    if (!token.is(llvm::StringRef(&coordinate, 1))) continue;
    if (guard[i].kind != IntervalKind::kAll) {
      cursor_.fail(token.offset, llvm::Twine(coordinate) + " is given twice");
    }
    cursor_.advance();
    if (cursor_.take("=")) {
      const auto [from_root, first] = parseEnd(axis);
      guard[i] = from_root ? Interval::root(first) : Interval::absolute(first);
      if (!from_root) return parseTerm(guard[i], guard[i].step);
      if (first == 0 && cursor_.take("in")) guard[i] = parseRootWithin(axis);
      return;
    }
    if (!cursor_.take("in")) cursor_.failExpected("'=' or 'in'");
    guard[i] = parseRange(axis);
    return;
  }
  if (token.kind != TokenKind::kWord) cursor_.failExpected("a condition (x = 0, x in 1..6)");
  cursor_.failAxis(topology_, token.offset, token.text, /*is_coordinate=*/true);
}

// 1..6, r-1..r+1, r+1..6, 0..r-1, 1+i..6
Interval RegionParser::parseRange(const Axis& axis) {
  Interval begins, ends;  // terms with a counter
  const auto [first_from_root, first] = parseEnd(axis);
  if (!first_from_root) parseTerm(begins, begins.step);
  cursor_.expect("..", "and the last coordinate");
  const std::size_t last_place = cursor_.offset();
  ends.loop = begins.loop;
  const auto [last_from_root, last] = parseEnd(axis);
  if (!last_from_root) parseTerm(ends, ends.step);
  if (begins.loop == 0 && ends.loop == 0 && cursor_.take("if")) {
    const auto size = static_cast<std::int32_t>(axis.size);
    if (std::max(std::abs(first), std::abs(last)) >= size)
      cursor_.fail(last_place, "goes all round from the root");
    return parseRootSpan(axis, {first_from_root, last_from_root, static_cast<std::int16_t>(first),
                                static_cast<std::int16_t>(last)});
  }
  Interval interval;
  if (first_from_root && last_from_root) {
    if (last < first) cursor_.fail(last_place, "ends before it begins");
    interval = Interval::root(first, static_cast<std::uint32_t>(last - first) + 1);
  } else if (first_from_root) {
    interval = Interval::fromRoot(first, static_cast<std::uint32_t>(last));
  } else if (last_from_root) {
    interval = Interval::toRoot(static_cast<std::uint32_t>(first), last);
  } else {
    interval = Interval::absolute(first, wrap(std::int64_t{last} - first, axis.size) + 1);
  }
  if (ends.loop == 0) return interval;
  if (first_from_root || last_from_root) {
    cursor_.fail(last_place, "goes with a counter and with the root");
  }
  const int growth = ends.step - begins.step;
  if (growth < std::numeric_limits<std::int8_t>::min() ||
      growth > std::numeric_limits<std::int8_t>::max()) {
    cursor_.fail(last_place, "grows by more than 127 a time");
  }
  interval.loop = ends.loop;
  interval.step = begins.step;
  interval.growth = static_cast<std::int8_t>(growth);
  return interval;
}

// r in 6..4, after x in r+1..5 if
Interval RegionParser::parseRootSpan(const Axis& axis, RootSpan span) {
  if (axis.size > kMostOfRootSpan) {
    cursor_.fail(cursor_.offset(), "an axis of more than " + llvm::Twine(kMostOfRootSpan) +
                                       " nodes has no guards for some roots");
  }
  cursor_.expect("r");
  cursor_.expect("in");
  span.from = static_cast<std::uint16_t>(parseCoordinate(axis));
  cursor_.expect("..", "and the last coordinate");
  span.to = static_cast<std::uint16_t>(parseCoordinate(axis));
  return Interval::forRoots(span);
}

// in 0..6, after x = r
Interval RegionParser::parseRootWithin(const Axis& axis) {
  const std::int32_t first = parseCoordinate(axis);
  cursor_.expect("..", "and the last coordinate");
  const std::size_t last_place = cursor_.offset();
  const std::int32_t last = parseCoordinate(axis);
  if (last < first) cursor_.fail(last_place, "ends before it begins");
  return Interval::rootWithin(first, static_cast<std::uint32_t>(last - first) + 1);
}

// 5, r, r-1
RegionParser::End RegionParser::parseEnd(const Axis& axis) {
  if (!cursor_.take("r")) return {false, parseCoordinate(axis)};
  return {true, cursor_.atSign() ? cursor_.signedInteger("an offset") : 0};
}

std::int32_t RegionParser::parseCoordinate(const Axis& axis) {
  return cursor_.integer<std::int32_t>(std::string("a coordinate on ") + axis.name, 0,
                                       axis.size - 1);
}

std::uint32_t RegionParser::internBox(const Box& box, std::size_t place) {
  const std::uint32_t index = builder_.box(box);
  notePlace("box", index, place);
  return index;
}

}  // namespace torc::ir
