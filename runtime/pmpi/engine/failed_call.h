// Failed call: a collective call that fails outside of an operation, on this rank or another. Its
// verdict contains the failure; the program gets the error when the call returns
// (runtime/pmpi/serving/serve.h).
#ifndef TORC_RUNTIME_PMPI_ENGINE_FAILED_CALL_H_
#define TORC_RUNTIME_PMPI_ENGINE_FAILED_CALL_H_

#include <string>

#include "runtime/pmpi/calls/collective_call.h"
#include "runtime/pmpi/engine/communicator_state.h"

namespace torc::runtime::pmpi {

/// Marks the call as failed on this rank, with this error class.
void failHere(CollectiveCall& call, CommunicatorState& state, int code, const std::string& what)
    TORC_EXCLUDES(engine_lock);
void failHere(CollectiveCall& call, CommunicatorState& state, const Status& status)
    TORC_EXCLUDES(engine_lock);

/// Whether it has failed on another rank before this rank has come to it.
bool failedElsewhere(CollectiveCall& call, const CommunicatorState& state)
    TORC_EXCLUDES(engine_lock);

/// Before a call of a function that MPI has refused here: other ranks may have given the earlier
/// call up. Asks them, for half a second at most.
void recall(CallId id, CommunicatorState& state) TORC_EXCLUDES(engine_lock);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_ENGINE_FAILED_CALL_H_
