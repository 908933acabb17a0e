// Loops written out: a schedule with loops as one without, which lists the operations of all
// iterations one after the other.
#ifndef TORC_SCHEDULES_LOOPS_UNROLL_H_
#define TORC_SCHEDULES_LOOPS_UNROLL_H_

#include <cstdint>
#include <vector>

#include "schedules/schedule.h"

namespace torc {

struct UnrolledLoops {
  Schedule schedule;
  // By record of `schedule`, that of the one with loops.
  std::vector<std::uint32_t> operations, frames;
  std::vector<Counters> counters;  // by operation; 0 where it stands in no loop
};

enum class IterationChoice : std::uint8_t {
  kAll,
  kEnds,  // the first three and the last two of every loop, without dependences
};

/// `schedule` has passed `validate`; for kEnds, all of it but what depends on them. Frames and
/// slots that no iteration uses are left out.
UnrolledLoops unrollLoops(const ScheduleView& schedule,
                          IterationChoice choice = IterationChoice::kAll);

}  // namespace torc

#endif  // TORC_SCHEDULES_LOOPS_UNROLL_H_
