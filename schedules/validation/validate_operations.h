// The part of validate.h that checks operations.
#ifndef TORC_SCHEDULES_VALIDATION_VALIDATE_OPERATIONS_H_
#define TORC_SCHEDULES_VALIDATION_VALIDATE_OPERATIONS_H_

#include <cstdint>

#include "schedules/faults/reject.h"
#include "schedules/schedule.h"

namespace torc {

/// Pieces and parts named so far by the lists of regions and frames, each list counted every time.
struct NamedBlocks {
  std::uint64_t pieces = 0, parts = 0;
};

/// Limit for linear searches of regions' pieces in their frames: enough for real schedules, and
/// small relative to the size of their tables.
inline std::uint64_t mostPieceChecks(const ScheduleView& schedule) {
  return (std::uint64_t{1} << 20) +
         64 * (schedule.operations.size() + schedule.pieces.size() + schedule.frames.size());
}

/// Checks an index into a table of `count`: "box 9 does not exist (schedule has 6)".
inline void checkExists(const char* record, std::uint64_t index, std::uint64_t count) {
  rejectIf(index >= count, record, index, " does not exist (schedule has ", count, ")");
}

/// Checks that the records referred to by a region or a frame (`part`, `box`, `pieces`) exist, and
/// counts those that its list names.
void validateBlocks(const ScheduleView& schedule, std::uint32_t part_count, std::uint32_t part,
                    std::uint32_t box, std::uint32_t pieces, NamedBlocks& named);

/// Checks the operations and dependences of a schedule with `part_count` parts, after its header
/// and other tables; its frames have `named`. Returns the number of frame pieces examined.
std::uint64_t validateOperations(const ScheduleView& schedule, std::uint32_t part_count,
                                 NamedBlocks named);

}  // namespace torc

#endif  // TORC_SCHEDULES_VALIDATION_VALIDATE_OPERATIONS_H_
