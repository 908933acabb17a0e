// Failed call: the error handler of the program's communicator is told.
#include "runtime/pmpi/engine/failed_call.h"

#include "runtime/pmpi/engine/engine.h"

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

Outcome refuse(const CollectiveCall& call, int code) {
  if (code != MPI_SUCCESS) tellErrorHandler(call.comm, code);
  return {true, code};
}

}  // namespace torc::runtime::pmpi
