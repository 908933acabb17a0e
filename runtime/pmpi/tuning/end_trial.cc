// The end of a call that may have been on trial.
#include "runtime/pmpi/tuning/end_trial.h"

#include "runtime/pmpi/calls/operation.h"
#include "runtime/pmpi/communicators/communicator_state.h"
#include "runtime/pmpi/communicators/failed_call.h"
#include "runtime/pmpi/tuning/call_trials.h"

namespace torc::pmpi {

Outcome endTrial(const CollectiveCall& call, const Outcome& outcome) {
  if (call.trial == nullptr) return outcome;
  CommunicatorState& state = *CommunicatorState::of(call.comm);
  if (state.hasFailed()) return outcome;  // nobody goes on there
  const Status status = state.trials().end(call);
  if (!status.ok()) return failHere(call, state, errorClass(status), status.message());
  return state.hasFailed() ? refuseAfterFailure(call, state) : outcome;
}

}  // namespace torc::pmpi
