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
  [[nodiscard]] bool parse(std::uint16_t phase, std::uint32_t stream);

 private:
  [[nodiscard]] bool parseKind(OperationKind& kind);
  [[nodiscard]] bool parseRegions(Operation& operation);
  [[nodiscard]] bool parsePeer(Operation& operation);
  [[nodiscard]] bool parsePeerLoop(std::uint32_t axes, PeerLoop& peers);
  [[nodiscard]] bool parseShift(std::uint32_t axis, std::int32_t& shift);
  [[nodiscard]] bool parseDependences();
  [[nodiscard]] bool parseInstance(Iterations& instance);
  [[nodiscard]] bool parseSegmentBefore(Iterations& instance);
  [[nodiscard]] bool parseIteration(Iterations& iterations);

  TextCursor& cursor_;
  ScheduleBuilder& builder_;
  RecordPlaces& places_;
  RegionParser& regions_;
  const Topology topology_;
  std::vector<std::uint32_t> dependences_;  // of the current operation
};

}  // namespace torc::ir

#endif  // TORC_IR_TEXT_OPERATION_PARSER_H_
