// Load turn: loads the schedule file of a trial, at its place in the queue of its communicator,
// before an operation uses it.
#ifndef TORC_RUNTIME_PMPI_TUNING_LOAD_TURN_H_
#define TORC_RUNTIME_PMPI_TUNING_LOAD_TURN_H_

#include "runtime/pmpi/calls/collective_call.h"
#include "runtime/pmpi/engine/communicator_state.h"
#include "schedules/library/index.h"
#include "support/status.h"

namespace torc::runtime::pmpi {

/// Loads the file of `entry` for `call`, which has its number, and waits until all ranks have
/// loaded it, or all know that it cannot be used (kFailed). kUnused: the communicator has failed
/// meanwhile. Errors are those of the call: kMismatch, as the ranks' calls differ; an MPI error on
/// this rank; no memory.
StatusOr<CommunicatorSchedule::Stage> loadInTurn(CommunicatorState& state,
                                                 const LibraryEntry& entry,
                                                 const CollectiveCall& call)
    TORC_EXCLUDES(engine_lock);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_TUNING_LOAD_TURN_H_
