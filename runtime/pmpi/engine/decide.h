// Who serves a call: torc, or MPI and why.
#ifndef TORC_RUNTIME_PMPI_ENGINE_DECIDE_H_
#define TORC_RUNTIME_PMPI_ENGINE_DECIDE_H_

#include "runtime/collectives/call.h"
#include "runtime/job/reason.h"
#include "runtime/pmpi/calls/collective_call.h"
#include "runtime/pmpi/calls/verdict.h"
#include "runtime/pmpi/engine/communicator_state.h"

namespace torc::runtime::pmpi {

/// Checks the arguments of a described call on an intracommunicator of `size` ranks, of which the
/// caller is `rank` (runtime/collectives/call.h: `checked` gets no lists). Fills in `call.bytes`.
/// kServed: torc can run it, if it has a schedule.
///
/// Of a correct program every rank gets the same answer, but for kArgument and kOwnBlock.
Reason checkArguments(CollectiveCall& call, int rank, int size, Call& checked);

/// Who serves the call, as every rank finds alone. Fills in `call.bytes`.
Verdict decide(CollectiveCall& call, CommunicatorState& state, Call& checked);

/// A blocking call with lists at the root, about which nothing looks wrong: notes that MPI makes
/// it, at a fraction of what `decide` takes. False: it is decided like others. On a communicator
/// whose calls are served.
bool leaveAtOnce(CollectiveCall& call, CommunicatorState& state) TORC_EXCLUDES(engine_lock);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_ENGINE_DECIDE_H_
