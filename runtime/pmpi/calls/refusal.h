// Refusals: calls whose arguments MPI finds wrong. It says so on the rank that has them, which then
// goes on. Where all ranks have made the same mistake that is the end of it; where only some have,
// the others wait in the call.
#ifndef TORC_RUNTIME_PMPI_CALLS_REFUSAL_H_
#define TORC_RUNTIME_PMPI_CALLS_REFUSAL_H_

#include "runtime/pmpi/calls/collective_call.h"
#include "runtime/pmpi/communicators/communicator_state.h"

namespace torc::pmpi {

/// After MPI has refused `call`: what comes next on the communicator waits in the queue until all
/// ranks have been refused. Until then its messages could be taken for those of this call. Never
/// waits.
void meetAfterRefusal(CommunicatorState& state, const CollectiveCall& call);

}  // namespace torc::pmpi

#endif  // TORC_RUNTIME_PMPI_CALLS_REFUSAL_H_
