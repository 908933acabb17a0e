// torc simulate --trace: a prediction in the format of a run's trace.
#ifndef TORC_COMPILER_COMMANDS_SIMULATE_TRACE_H_
#define TORC_COMPILER_COMMANDS_SIMULATE_TRACE_H_

#include <cstdint>
#include <string>

#include "model/simulator/simulator.h"
#include "schedules/schedule.h"
#include "support/status.h"

namespace torc::compiler {

/// Writes the events of `result`, a simulation of `schedule` for a vector of `bytes`, as a file for
/// Perfetto (docs/users/view.md). Errors: kIo.
Status writeTrace(const std::string& path, const ScheduleView& schedule,
                  const model::SimulateResult& result, std::uint64_t bytes);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_COMMANDS_SIMULATE_TRACE_H_
