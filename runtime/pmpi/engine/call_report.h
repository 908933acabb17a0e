// What is told of calls and communicators: to the statistics, and as errors.
#ifndef TORC_RUNTIME_PMPI_ENGINE_CALL_REPORT_H_
#define TORC_RUNTIME_PMPI_ENGINE_CALL_REPORT_H_

#include <string>

#include "runtime/pmpi/calls/collective_call.h"
#include "runtime/pmpi/engine/communicator_state.h"

namespace torc::runtime::pmpi {

/// Takes the time, where calls are counted.
void beginCall(CollectiveCall& call);

/// The call is about to be made: TORC_VERBOSE=3 tells of it before anything can stand still.
/// Arguments as of endCall.
void announceCall(const CollectiveCall& call, const CommunicatorState* state);

/// The call is complete, or MPI has it. `state`: of its communicator, or null. `call` may be
/// nobody's any more, but its datatype and operation exist.
void endCall(const CollectiveCall& call, const CommunicatorState* state);

/// Counts a call that dedicated ranks have got, whose bytes are known.
void endOffloadedCall(const CollectiveCall& call);

/// An error of one call: `torc: error: rank 3: MPI_Iallreduce: ...`.
void complainOf(const CollectiveCall& call, const std::string& what);

/// The file that serves the call, or who else does and why.
const char* servedBy(const CollectiveCall& call);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_ENGINE_CALL_REPORT_H_
