// The part of validation that looks at operations. See validate.h, which is what others call.
#ifndef TORC_SCHEDULES_VALIDATE_OPERATIONS_H_
#define TORC_SCHEDULES_VALIDATE_OPERATIONS_H_

#include <cstdint>

#include "schedules/schedule.h"
#include "support/status.h"

namespace torc {

/// Checks that what a region or a frame (`part`, `box`, `pieces`) refers to exists, and counts the
/// parts that its pieces have together.
Status validateBlocks(const ScheduleView& schedule, std::uint32_t part_count, std::uint32_t part,
                      std::uint32_t box, std::uint32_t pieces, std::uint64_t& named_parts);

/// Checks the operations and dependences of a schedule with `part_count` parts whose header and
/// other tables are already known to be sound; its frames have `named_parts`. Where all is well
/// `piece_checks` is set to the pieces of frames that were looked at, for tests.
Status validateOperations(const ScheduleView& schedule, std::uint32_t part_count,
                          std::uint64_t named_parts, std::uint64_t* piece_checks = nullptr);

}  // namespace torc

#endif  // TORC_SCHEDULES_VALIDATE_OPERATIONS_H_
