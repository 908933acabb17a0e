// Failed call: the error handler of the program's communicator is told.
#include "runtime/pmpi/engine/failed_call.h"

#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/engine/stall.h"
#include "runtime/pmpi/process/progress.h"

namespace torc::runtime::pmpi {

int failHere(const CollectiveCall& call, CommunicatorState& state, int code,
             const std::string& what) {
  EngineLock lock;
  state.history().fail(call, code, what);
  return code;
}

std::optional<int> failedElsewhere(const CollectiveCall& call, const CommunicatorState& state) {
  EngineLock lock;
  const CallFailure* failure = state.history().failureOf(call);
  if (failure == nullptr) return std::nullopt;
  return state.history().codeOf(*failure);
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

Outcome refuse(const CollectiveCall& call, int code) {
  if (code != MPI_SUCCESS) tellErrorHandler(call.comm, code);
  return {true, code};
}

}  // namespace torc::runtime::pmpi
