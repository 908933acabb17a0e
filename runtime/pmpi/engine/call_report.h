// Reports of calls: to the statistics, and as errors. A collective call that fails outside of an
// operation, on this rank or another, has the failure in its verdict, and a note in the history of
// its communicator; the program gets the error when the call returns
// (runtime/pmpi/serving/serve.h).
#ifndef TORC_RUNTIME_PMPI_ENGINE_CALL_REPORT_H_
#define TORC_RUNTIME_PMPI_ENGINE_CALL_REPORT_H_

#include <string>

#include "runtime/pmpi/calls/collective_call.h"
#include "runtime/pmpi/engine/communicator_state.h"

namespace torc::runtime::pmpi {

/// Notes the start time, if calls are counted.
void beginCall(CollectiveCall& call);

/// Before the call is made: with TORC_VERBOSE=3, prints it, so that a call that hangs is visible.
/// For the arguments see endCall.
void announceCall(const CollectiveCall& call, const CommunicatorState* state);

/// After the call is complete, or MPI has it. `state`: of its communicator, or null. The buffers of
/// `call` may be gone, but its datatype and operation exist.
void endCall(const CollectiveCall& call, const CommunicatorState* state);

/// Counts a call that dedicated ranks have received, with known bytes.
void endOffloadedCall(const CollectiveCall& call);

/// Prints an error of one call: `torc: error: rank 3: MPI_Iallreduce: ...`.
void complainOf(const CollectiveCall& call, const std::string& what);

/// The schedule file that serves the call, or else the server and the reason.
const char* servedBy(const CollectiveCall& call);

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

#endif  // TORC_RUNTIME_PMPI_ENGINE_CALL_REPORT_H_
