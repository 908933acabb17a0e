// Parses regions and guards of the text form.
#ifndef TORC_IR_TEXT_REGION_PARSER_H_
#define TORC_IR_TEXT_REGION_PARSER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include <llvm/ADT/StringMap.h>

#include "ir/schedule_builder.h"
#include "ir/text/cursor.h"

namespace torc::ir {

/// Places of a schedule's records in the text, to locate faults of validation, by the name of the
/// record in a message ("operation"). Of boxes, pairs and peers, the first occurrence of each.
using RecordPlaces = llvm::StringMap<std::vector<std::size_t>>;

/// The base of the parsers of the step level.
class RegionParser {
 public:
  /// Adds boxes to `builder`, which has the header and the colors.
  RegionParser(TextCursor& cursor, ScheduleBuilder& builder, RecordPlaces& places)
      : cursor_(cursor),
        builder_(builder),
        places_(places),
        topology_(builder.schedule().topology),
        part_count_(builder.schedule().view().partCount()) {}

  Region parseRegion();
  /// Parses the pieces of a frame.
  void parseFramePieces();
  /// Parses a guard from `when` on, and returns the number of its box.
  std::uint32_t parseGuard();

 protected:
  /// Notes the place of a record that may have been there before.
  void notePlace(llvm::StringRef record, std::uint32_t index, std::size_t place) {
    std::vector<std::size_t>& places = places_[record];
    if (index == places.size()) places.push_back(place);
  }

  TextCursor& cursor_;
  ScheduleBuilder& builder_;
  RecordPlaces& places_;
  const Topology topology_;
  const std::uint32_t part_count_;
  std::uint32_t depth_ = 0;    // loops around the current text: boxes may depend on their counters
  std::vector<Piece> pieces_;  // of the current region or frame

 private:
  /// 5, or r-1: relative to the root.
  struct End {
    bool from_root = false;
    std::int32_t value = 0;
  };

  Region parseScratch();
  void parsePieces(bool comma, const Piece* frame);
  void parseParts(Piece& piece);
  std::uint32_t parseBlocks();
  Box parseBox();
  Interval parseInterval(std::uint32_t axis);
  /// Parses an optional term with a counter: `+i`, `-2*i`; without one `factor` is unchanged.
  void parseTerm(Interval& interval, std::int8_t& factor);
  void parseCounter(Interval& interval, std::int64_t number, std::int8_t& factor);
  bool atCounter() const;
  void parseCondition(Box& guard);
  Interval parseRange(const Axis& axis);
  Interval parseRootWithin(const Axis& axis);
  Interval parseRootSpan(const Axis& axis, RootSpan span);
  End parseEnd(const Axis& axis);
  std::int32_t parseCoordinate(const Axis& axis);

  std::uint32_t internBox(const Box& box, std::size_t place);
};

}  // namespace torc::ir

#endif  // TORC_IR_TEXT_REGION_PARSER_H_
