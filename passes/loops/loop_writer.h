// Writes a schedule with the loops found in it.
#ifndef TORC_PASSES_LOOPS_LOOP_WRITER_H_
#define TORC_PASSES_LOOPS_LOOP_WRITER_H_

#include "passes/loops/loop_finder.h"
#include "schedules/schedule.h"

namespace torc::passes {

Schedule withLoops(const Schedule& schedule, const RolledLoops& found);

}  // namespace torc::passes

#endif  // TORC_PASSES_LOOPS_LOOP_WRITER_H_
