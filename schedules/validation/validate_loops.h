// The part of validate.h that checks loops.
#ifndef TORC_SCHEDULES_VALIDATION_VALIDATE_LOOPS_H_
#define TORC_SCHEDULES_VALIDATION_VALIDATE_LOOPS_H_

#include "schedules/schedule.h"

namespace torc {

/// Checks the loops of a schedule, and all that depends on their counters. Precondition: its
/// records are sound in the first iteration of every loop. The other iterations are checked later
/// at the ends of every loop (unrollLoops), as all is affine in the counters.
void validateLoops(const ScheduleView& schedule);

}  // namespace torc

#endif  // TORC_SCHEDULES_VALIDATION_VALIDATE_LOOPS_H_
