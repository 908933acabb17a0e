// Unrolling: turns a schedule with loops into one that lists the operations of all iterations.
#ifndef TORC_SCHEDULES_LOOPS_UNROLL_H_
#define TORC_SCHEDULES_LOOPS_UNROLL_H_

#include <cstdint>
#include <vector>

#include "schedules/schedule.h"

namespace torc {

struct UnrolledLoops {
  Schedule schedule;
  // By record of `schedule`, the record of the schedule with loops.
  std::vector<std::uint32_t> operations, frames;
  std::vector<Counters> counters;  // by operation; 0 outside of loops
};

enum class IterationChoice : std::uint8_t {
  kAll,
  kEnds,  // the first three and the last two of every loop, without dependences
};

/// `schedule` has passed `validate`; for kEnds, all checks that do not depend on them. Frames and
/// slots that no iteration uses are left out.
UnrolledLoops unrollLoops(const ScheduleView& schedule,
                          IterationChoice choice = IterationChoice::kAll);

}  // namespace torc

#endif  // TORC_SCHEDULES_LOOPS_UNROLL_H_
