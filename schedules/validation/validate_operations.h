// The part of validation that looks at operations. See validate.h, which is what others call.
#ifndef TORC_SCHEDULES_VALIDATION_VALIDATE_OPERATIONS_H_
#define TORC_SCHEDULES_VALIDATION_VALIDATE_OPERATIONS_H_

#include <cstdint>

#include "schedules/schedule.h"
#include "support/message.h"
#include "support/status.h"

namespace torc {

/// What the lists of regions and frames name so far, each list counted every time.
struct NamedBlocks {
  std::uint64_t pieces = 0, parts = 0;
};

/// Pieces that may be looked at one by one to find those of regions in their frames: what schedules
/// have that are not made to take long, and little for the size of their tables.
inline std::uint64_t mostPieceChecks(const ScheduleView& schedule) {
  return (std::uint64_t{1} << 20) +
         64 * (schedule.operations.size() + schedule.pieces.size() + schedule.frames.size());
}

/// Of an index into a table of `count`: "box 9 does not exist (schedule has 6)".
inline Status noSuch(const char* record, std::uint64_t index, std::uint64_t count) {
  return malformed(record, index, " does not exist (schedule has ", count, ")");
}

/// Checks that what a region or a frame (`part`, `box`, `pieces`) refers to exists, and counts what
/// its list names.
Status validateBlocks(const ScheduleView& schedule, std::uint32_t part_count, std::uint32_t part,
                      std::uint32_t box, std::uint32_t pieces, NamedBlocks& named);

/// Checks the operations and dependences of a schedule with `part_count` parts whose header and
/// other tables are already known to be sound; its frames have `named`. Where all is well
/// `piece_checks` is set to the pieces of frames that were looked at, for tests.
Status validateOperations(const ScheduleView& schedule, std::uint32_t part_count, NamedBlocks named,
                          std::uint64_t* piece_checks = nullptr);

}  // namespace torc

#endif  // TORC_SCHEDULES_VALIDATION_VALIDATE_OPERATIONS_H_
