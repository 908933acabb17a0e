// Parses the step level of the text form: streams, slots, frames, phases with their operations.
#ifndef TORC_IR_TEXT_STEPS_PARSER_H_
#define TORC_IR_TEXT_STEPS_PARSER_H_

#include "ir/schedule_builder.h"
#include "ir/text/cursor.h"
#include "ir/text/region_parser.h"

namespace torc::ir {

/// Parses up to the first token of another kind, and appends to `builder`, which has the header and
/// the colors.
void parseSteps(TextCursor& cursor, ScheduleBuilder& builder, RecordPlaces& places);

}  // namespace torc::ir

#endif  // TORC_IR_TEXT_STEPS_PARSER_H_
