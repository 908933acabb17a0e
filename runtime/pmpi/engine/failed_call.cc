// Failed calls: notes in the history of the communicator, and the failures of other ranks in it.
#include "runtime/pmpi/engine/failed_call.h"

#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/engine/operation.h"
#include "runtime/pmpi/engine/stall.h"
#include "runtime/pmpi/process/progress.h"

namespace torc::runtime::pmpi {

void failHere(CollectiveCall& call, CommunicatorState& state, int code, const std::string& what) {
  EngineLock lock;
  state.history().fail(call, code, what);
  call.verdict = Verdict::over(code);
}

void failHere(CollectiveCall& call, CommunicatorState& state, const Status& status) {
  failHere(call, state, errorClass(status), status.message());
}

bool failedElsewhere(CollectiveCall& call, const CommunicatorState& state) {
  EngineLock lock;
  const CallFailure* failure = state.history().failureOf(call);
  if (failure != nullptr) call.verdict = Verdict::over(state.history().codeOf(*failure));
  return failure != nullptr;
}

void recall(CallId id, CommunicatorState& state) {
  {
    EngineLock lock;
    if (!state.history().recall(id)) return;
  }
  const double end = PMPI_Wtime() + kSecondsBeforeAsking;
  progressUntil([&] {
    EngineLock lock;
    return state.history().isRecalled() || PMPI_Wtime() > end;
  });
}

}  // namespace torc::runtime::pmpi
