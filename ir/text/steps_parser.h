// Parses the step level of the text form: streams, slots, frames, phases with their operations.
#ifndef TORC_IR_TEXT_STEPS_PARSER_H_
#define TORC_IR_TEXT_STEPS_PARSER_H_

#include <cstdint>

#include "ir/schedule_builder.h"
#include "ir/text/cursor.h"
#include "ir/text/operation_parser.h"
#include "ir/text/region_parser.h"

namespace torc::ir {

class StepsParser {
 public:
  /// Appends to `builder`, which has the header and the colors.
  StepsParser(TextCursor& cursor, ScheduleBuilder& builder, RecordPlaces& places)
      : cursor_(cursor),
        builder_(builder),
        places_(places),
        regions_(cursor, builder, places),
        operations_(cursor, builder, places, regions_) {}

  /// Parses up to the first token of another kind.
  void parse();

 private:
  void parseStream();
  void parseSlots();
  void parseFrame();
  void parseSegments();
  void parsePhase();
  void parseStreams(std::uint16_t phase);
  void parseBlock(std::uint16_t phase);
  void parseOperations(std::uint16_t phase, std::uint32_t stream);
  template <typename ParseBody>
  void parseLoop(ParseBody parseBody);

  TextCursor& cursor_;
  ScheduleBuilder& builder_;
  RecordPlaces& places_;
  RegionParser regions_;
  OperationParser operations_;
};

}  // namespace torc::ir

#endif  // TORC_IR_TEXT_STEPS_PARSER_H_
