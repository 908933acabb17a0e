// Exact dependences: an operation waits for the earlier ones that it conflicts with (read after
// write, write after read, write after write; conflicts.h), less those that others imply.
#ifndef TORC_PASSES_ANALYSIS_EXACT_DEPENDENCES_H_
#define TORC_PASSES_ANALYSIS_EXACT_DEPENDENCES_H_

#include <cstdint>

#include <llvm/ADT/SmallVector.h>
#include <llvm/Support/Error.h>

#include "passes/analysis/dependences.h"
#include "schedules/schedule.h"

namespace torc::passes {

using OperationNumbers = llvm::SmallVector<std::uint32_t, 8>;

/// Adds what operation `i` waits for because of a signal: what that orders shows in no region.
void addSignals(const ScheduleView& schedule, std::uint32_t i, OperationNumbers& candidates);

/// Adds those of all operations of `schedule`, whose order is the meaning to keep.
llvm::Error addExact(const Schedule& schedule, Dependences& dependences);

/// `steps`, if there are some, with exact dependences.
llvm::Expected<Schedule> withDependences(llvm::Expected<Schedule> steps);

}  // namespace torc::passes

#endif  // TORC_PASSES_ANALYSIS_EXACT_DEPENDENCES_H_
