// Decides between torc and MPI for a call, and gives the reason.
#ifndef TORC_RUNTIME_PMPI_ENGINE_DECIDE_H_
#define TORC_RUNTIME_PMPI_ENGINE_DECIDE_H_

#include "runtime/collectives/call.h"
#include "runtime/job/reason.h"
#include "runtime/pmpi/calls/collective_call.h"
#include "runtime/pmpi/engine/communicator_state.h"

namespace torc::runtime::pmpi {

/// Checks the arguments of a described call on an intracommunicator of `size` ranks, of which the
/// caller is `rank` (runtime/collectives/call.h: `checked` gets no lists). Fills in `call.bytes`.
/// kServed: torc can run it, if it has a schedule.
///
/// In a correct program every rank gets the same answer, except kArgument and kOwnBlock.
Reason checkArguments(CollectiveCall& call, int rank, int size, Call& checked);

/// Chooses the server of the call, on every rank alone. Fills in `call.bytes`.
Verdict decide(CollectiveCall& call, CommunicatorState& state, Call& checked);

/// For a blocking call with lists at the root that looks correct: notes the fallback to MPI, at a
/// fraction of the cost of `decide`. False: `decide` must be called. Precondition: calls on the
/// communicator are served.
bool leaveAtOnce(CollectiveCall& call, CommunicatorState& state) TORC_EXCLUDES(engine_lock);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_ENGINE_DECIDE_H_
