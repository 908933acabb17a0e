// Exact dependences: an operation waits for the earlier ones that it conflicts with (read after
// write, write after read, write after write; conflicts.h), without implied ones.
#ifndef TORC_PASSES_ANALYSIS_EXACT_DEPENDENCES_H_
#define TORC_PASSES_ANALYSIS_EXACT_DEPENDENCES_H_

#include <cstdint>

#include <llvm/ADT/SmallVector.h>
#include <llvm/Support/Error.h>

#include "passes/analysis/dependences.h"
#include "schedules/schedule.h"

namespace torc::passes {

using OperationNumbers = llvm::SmallVector<std::uint32_t, 8>;

/// Adds the dependences of operation `i` due to signals, whose order no region shows.
void addSignals(const ScheduleView& schedule, std::uint32_t i, OperationNumbers& candidates);

/// Adds the dependences of all operations of `schedule`, whose order defines its meaning.
llvm::Error addExact(const Schedule& schedule, Dependences& dependences);

/// `steps` with exact dependences, unless it is an error.
llvm::Expected<Schedule> withDependences(llvm::Expected<Schedule> steps);

}  // namespace torc::passes

#endif  // TORC_PASSES_ANALYSIS_EXACT_DEPENDENCES_H_
