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

int failedElsewhere(const CollectiveCall& call, const CommunicatorState& state) {
  EngineLock lock;
  const CallFailure* failure = state.history().failureOf(call);
  return failure == nullptr ? MPI_SUCCESS : failure->code;
}

Outcome refuse(const CollectiveCall& call, int code) {
  tellErrorHandler(call.comm, code);
  return {true, code};
}

}  // namespace torc::runtime::pmpi
