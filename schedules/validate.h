// Structural validation: what must hold before anything dereferences an index
// of a schedule. Run once when a schedule is loaded or parsed; afterwards it is
// expanded and executed unchecked.
//
// Holds afterwards: the topology is valid; colors have weight >= 1 (their sum
// fits 63 bits) and order every axis once; every index (stream, part, box,
// frame, slot, shift, guard) is in range; intervals have 1 <= length <= size;
// guards are absolute; on a mesh every region and every peer of an operation
// lies inside for all nodes that its guard admits; regions of an operation name
// the same part and the same number of blocks; buffers are legal for the
// operation and hold the blocks (only the own block of an own-block buffer);
// scratch regions lie inside their frame; each recv_reduce has its scratch;
// dependences name operations further up; reserved bytes are 0. Does not hold
// by this alone: that the schedule computes its collective (ir/verifier.h).
#ifndef TORC_SCHEDULES_VALIDATE_H_
#define TORC_SCHEDULES_VALIDATE_H_

#include "schedules/schedule.h"
#include "schedules/status.h"

namespace torc {

/// Ok, or the first fault: `operation 17: stream 9 does not exist (schedule has
/// 6)`.
Status validate(const ScheduleView &schedule);

} // namespace torc

#endif // TORC_SCHEDULES_VALIDATE_H_
