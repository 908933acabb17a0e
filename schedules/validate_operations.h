// The part of validation that looks at operations. See validate.h, which is what others call.
#ifndef TORC_SCHEDULES_VALIDATE_OPERATIONS_H_
#define TORC_SCHEDULES_VALIDATE_OPERATIONS_H_

#include <cstdint>

#include "schedules/schedule.h"
#include "schedules/status.h"

namespace torc {

/// Checks the operations and dependences of a schedule with `part_count` parts whose header and
/// other tables are already known to be sound.
Status validateOperations(const ScheduleView& schedule, std::uint32_t part_count);

}  // namespace torc

#endif  // TORC_SCHEDULES_VALIDATE_OPERATIONS_H_
