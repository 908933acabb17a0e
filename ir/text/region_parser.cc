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
bool RegionParser::parse(Region& region) {
  if (cursor_.take("in")) {
    region.buffer = Buffer::kIn;
  } else if (cursor_.take("out")) {
    region.buffer = Buffer::kOut;
  } else if (cursor_.token().text.starts_with("f") &&
             llvm::all_of(cursor_.token().text.drop_front(), llvm::isDigit)) {
    return parseScratch(region);
  } else {
    return cursor_.failExpected("a region (in[...], out[...], f0[...])");
  }
  if (!cursor_.expect("[", "after the buffer") || !parsePieces(true, nullptr)) return false;
  region = builder_.region(region.buffer, pieces_);
  return cursor_.expect("]", "after the box");
}

bool RegionParser::parseScratch(Region& region) {
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
  // The part may be omitted if a frame has only one.
  const Piece of_frame{frame.part, 1, frame.box};
  if (!parsePieces(true, frame.pieces == 0 ? &of_frame : nullptr)) return false;
  region = builder_.region(Buffer::kScratch, pieces_, index);
  return cursor_.expect("]", "after the box");
}

bool RegionParser::parseFramePieces() {
  depth_ = kMaxLoopDepth;  // of the loops that will use it
  const bool parsed = parsePieces(false, nullptr);
  depth_ = 0;
  return parsed;
}

// p0 (x-1, *), (x+1, *), p3 (x, *); with `comma`, a comma follows the parts too. Parts of `frame`,
// if given, may be omitted.
bool RegionParser::parsePieces(bool comma, const Piece* frame) {
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
bool RegionParser::parseParts(Piece& piece) {
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
bool RegionParser::parseBlocks(std::uint32_t& index) {
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
bool RegionParser::parseBox(Box& box) {
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
bool RegionParser::parseInterval(std::uint32_t axis_index, Interval& interval) {
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

bool RegionParser::atCounter() const {
  return cursor_.token().kind == TokenKind::kWord && cursor_.token().text.size() == 1 &&
         cursor_.token().text[0] >= counterName(0) &&
         cursor_.token().text[0] <= counterName(kMaxLoopDepth - 1);
}

bool RegionParser::parseTerm(Interval& interval, std::int8_t& factor) {
  const bool negative = cursor_.at("-");
  if (depth_ == 0 || (!negative && !cursor_.at("+"))) return true;
  cursor_.advance();
  if (atCounter()) return parseCounter(interval, negative ? -1 : 1, factor);
  std::int32_t number = 0;
  return cursor_.magnitude(negative, number, "a counter, or how often it counts") &&
         cursor_.expect("*", "and a counter") && parseCounter(interval, number, factor);
}

// i, after `number` and a mark
bool RegionParser::parseCounter(Interval& interval, std::int64_t number, std::int8_t& factor) {
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

// when x in 1..6, y = 0; root-relative: x = r+2, x = r in 0..6, x in r-1..r+1, x in r+1..6,
// x in 0..r-1, x in r+1..5 if r in 6..4
bool RegionParser::parseGuard(std::uint32_t& index) {
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

bool RegionParser::parseCondition(Box& guard) {
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
bool RegionParser::parseRange(const Axis& axis, Interval& interval) {
  std::int32_t first = 0, last = 0;
  bool first_from_root = false, last_from_root = false;
  Interval begins, ends;  // terms with a counter
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
  if (begins.loop == 0 && ends.loop == 0 && cursor_.take("if")) {
    const auto size = static_cast<std::int32_t>(axis.size);
    if (std::max(std::abs(first), std::abs(last)) >= size)
      return cursor_.fail(last_place, "goes all round from the root");
    return parseRootSpan(axis,
                         {first_from_root, last_from_root, static_cast<std::int16_t>(first),
                          static_cast<std::int16_t>(last)},
                         interval);
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

// r in 6..4, after x in r+1..5 if
bool RegionParser::parseRootSpan(const Axis& axis, RootSpan span, Interval& interval) {
  if (axis.size > kMostOfRootSpan) {
    return cursor_.fail(cursor_.offset(), "an axis of more than " + llvm::Twine(kMostOfRootSpan) +
                                              " nodes has no guards for some roots");
  }
  std::int32_t from = 0, to = 0;
  if (!cursor_.expect("r") || !cursor_.expect("in") || !parseCoordinate(axis, from) ||
      !cursor_.expect("..", "and the last coordinate") || !parseCoordinate(axis, to)) {
    return false;
  }
  span.from = static_cast<std::uint16_t>(from);
  span.to = static_cast<std::uint16_t>(to);
  interval = Interval::forRoots(span);
  return true;
}

// in 0..6, after x = r
bool RegionParser::parseRootWithin(const Axis& axis, Interval& interval) {
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
bool RegionParser::parseEnd(const Axis& axis, bool& from_root, std::int32_t& value) {
  from_root = cursor_.take("r");
  if (!from_root) return parseCoordinate(axis, value);
  value = 0;
  return !(cursor_.at("+") || cursor_.at("-")) || cursor_.signedInteger(value, "an offset");
}

bool RegionParser::parseCoordinate(const Axis& axis, std::int32_t& coordinate) {
  const std::string what = std::string("a coordinate on ") + axis.name;
  return cursor_.integer(coordinate, what, 0, axis.size - 1);
}

std::uint32_t RegionParser::internBox(const Box& box, std::size_t place) {
  const std::uint32_t index = builder_.box(box);
  if (index == places_.boxes.size()) places_.boxes.push_back(place);
  return index;
}

}  // namespace torc::ir
