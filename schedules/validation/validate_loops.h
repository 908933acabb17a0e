// The part of validation that looks at loops. See validate.h, which is what others call.
#ifndef TORC_SCHEDULES_VALIDATION_VALIDATE_LOOPS_H_
#define TORC_SCHEDULES_VALIDATION_VALIDATE_LOOPS_H_

#include "schedules/schedule.h"
#include "support/status.h"

namespace torc {

/// Checks the loops of a schedule, and what goes with their counters. Its records are sound as they
/// are in the first iteration of every loop; whether they are in the others is asked afterwards, of
/// the ends of every loop (unrollLoops): what goes with a counter does so affinely.
Status validateLoops(const ScheduleView& schedule);

}  // namespace torc

#endif  // TORC_SCHEDULES_VALIDATION_VALIDATE_LOOPS_H_
