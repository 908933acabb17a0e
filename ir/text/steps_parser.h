// Parses the step level of the text form: streams, slots, frames, phases with their operations.
#ifndef TORC_IR_TEXT_STEPS_PARSER_H_
#define TORC_IR_TEXT_STEPS_PARSER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/schedule_builder.h"
#include "ir/text/cursor.h"

namespace torc::ir {

/// Where the records of a schedule stand in the text, to place what validation finds.
struct RecordPlaces {
  std::vector<std::size_t> colors, streams, frames, operations;
  std::vector<std::size_t> boxes, pairs, shifts, peer_loops;  // where each stood first
  std::vector<std::size_t> loops;
  std::size_t slots = 0, segments = 0;
};

class StepsParser {
 public:
  /// Appends to `builder`, which has the header and the colors.
  StepsParser(TextCursor& cursor, ScheduleBuilder& builder, RecordPlaces& places)
      : cursor_(cursor),
        builder_(builder),
        places_(places),
        topology_(builder.schedule().topology),
        part_count_(builder.schedule().view().partCount()) {}

  /// Parses up to the first token that belongs to none of the four kinds.
  [[nodiscard]] bool parse();

 private:
  [[nodiscard]] bool parseStream();
  [[nodiscard]] bool parseSlots();
  [[nodiscard]] bool parseFrame();
  [[nodiscard]] bool parseSegments();
  [[nodiscard]] bool parsePhase();
  [[nodiscard]] bool parseStreams(std::uint16_t phase);
  [[nodiscard]] bool parseBlock(std::uint16_t phase);
  [[nodiscard]] bool parseOperations(std::uint16_t phase, std::uint32_t stream);
  /// A loop of what `parseBody` parses.
  template <typename ParseBody>
  [[nodiscard]] bool parseLoop(ParseBody parseBody);
  [[nodiscard]] bool parseOperation(std::uint16_t phase, std::uint32_t stream);
  [[nodiscard]] bool parseKind(OperationKind& kind);
  [[nodiscard]] bool parseRegions(Operation& operation);
  [[nodiscard]] bool parseRegion(Region& region);
  [[nodiscard]] bool parseScratch(Region& region);
  [[nodiscard]] bool parsePieces(bool comma, const Piece* frame);
  [[nodiscard]] bool parseParts(Piece& piece);
  [[nodiscard]] bool parseBlocks(std::uint32_t& index);
  [[nodiscard]] bool parseBox(Box& box);
  [[nodiscard]] bool parseInterval(std::uint32_t axis, Interval& interval);
  /// A term with a counter that may follow: `+i`, `-2*i`; `factor` stays where there is none.
  [[nodiscard]] bool parseTerm(Interval& interval, std::int8_t& factor);
  [[nodiscard]] bool parseCounter(Interval& interval, std::int64_t number, std::int8_t& factor);
  bool atCounter() const;
  [[nodiscard]] bool parsePeer(Operation& operation);
  [[nodiscard]] bool parsePeerLoop(std::uint32_t axes, PeerLoop& peers);
  [[nodiscard]] bool parseShift(std::uint32_t axis, std::int32_t& shift);
  [[nodiscard]] bool parseDependences();
  [[nodiscard]] bool parseInstance(Iterations& instance);
  [[nodiscard]] bool parseSegmentBefore(Iterations& instance);
  [[nodiscard]] bool parseIteration(Iterations& iterations);
  [[nodiscard]] bool parseGuard(std::uint32_t& index);
  [[nodiscard]] bool parseCondition(Box& guard);
  [[nodiscard]] bool parseRootWithin(const Axis& axis, Interval& interval);
  [[nodiscard]] bool parseEnd(const Axis& axis, bool& from_root, std::int32_t& value);
  [[nodiscard]] bool parseRange(const Axis& axis, Interval& interval);
  [[nodiscard]] bool parseCoordinate(const Axis& axis, std::int32_t& coordinate);

  std::uint32_t internBox(const Box& box, std::size_t place);

  TextCursor& cursor_;
  ScheduleBuilder& builder_;
  RecordPlaces& places_;
  const Topology topology_;
  const std::uint32_t part_count_;
  std::uint32_t depth_ = 0;                 // loops around what is being parsed
  std::vector<std::uint32_t> dependences_;  // of the operation being parsed
  std::vector<Piece> pieces_;               // of the region or frame being parsed
};

}  // namespace torc::ir

#endif  // TORC_IR_TEXT_STEPS_PARSER_H_
