// Parses the operations of the text form.
#ifndef TORC_IR_TEXT_OPERATION_PARSER_H_
#define TORC_IR_TEXT_OPERATION_PARSER_H_

#include <cstdint>
#include <vector>

#include "ir/schedule_builder.h"
#include "ir/text/cursor.h"
#include "ir/text/region_parser.h"
#include "schedules/loops/loop_nest.h"

namespace torc::ir {

inline constexpr llvm::StringRef kSegmentWord(&kSegmentCounter, 1);

class OperationParser {
 public:
  OperationParser(TextCursor& cursor, ScheduleBuilder& builder, RecordPlaces& places,
                  RegionParser& regions)
      : cursor_(cursor),
        builder_(builder),
        places_(places),
        regions_(regions),
        topology_(builder.schedule().topology) {}

  /// Parses an operation and appends it.
  void parse(std::uint16_t phase, std::uint32_t stream);

 private:
  OperationKind parseKind();
  void parseRegions(Operation& operation);
  void parsePeer(Operation& operation);
  PeerLoop parsePeerLoop(std::uint32_t axes);
  std::int32_t parseShift(std::uint32_t axis);
  void parseDependences();
  void parseInstance(Iterations& instance);
  void parseSegmentBefore(Iterations& instance);
  void parseIteration(Iterations& iterations);

  TextCursor& cursor_;
  ScheduleBuilder& builder_;
  RecordPlaces& places_;
  RegionParser& regions_;
  const Topology topology_;
  std::vector<std::uint32_t> dependences_;  // of the current operation
};

}  // namespace torc::ir

#endif  // TORC_IR_TEXT_OPERATION_PARSER_H_
