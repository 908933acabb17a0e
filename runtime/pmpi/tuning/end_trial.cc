// The end of a call that may have been on trial.
#include "runtime/pmpi/tuning/end_trial.h"

#include "runtime/pmpi/engine/communicator_state.h"
#include "runtime/pmpi/engine/failed_call.h"
#include "runtime/pmpi/engine/operation.h"
#include "runtime/pmpi/tuning/call_trials.h"

namespace torc::runtime::pmpi {

int endTrial(const CollectiveCall& call, int code) {
  if (call.trial == nullptr) return code;
  CommunicatorState& state = *CommunicatorState::of(call.comm);
  const Status status = CallTrials::of(state).end(call);
  return status.ok() ? code : failHere(call, state, errorClass(status), status.message());
}

}  // namespace torc::runtime::pmpi
