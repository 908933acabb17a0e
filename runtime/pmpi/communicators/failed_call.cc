// Failed call: the error handler of the program's communicator is told.
#include "runtime/pmpi/communicators/failed_call.h"

#include <utility>

#include "runtime/pmpi/calls/call_report.h"
#include "runtime/pmpi/calls/reason.h"
#include "runtime/pmpi/job/engine.h"
#include "runtime/pmpi/statistics/report.h"
#include "support/message.h"

namespace torc::pmpi {

Outcome refuse(const CollectiveCall& call, int code) {
  reportFailures();
  tellErrorHandler(call.comm, code);
  return {true, code};
}

Outcome failHere(const CollectiveCall& call, CommunicatorState& state, int code,
                 const std::string& what) {
  {
    EngineLock lock;
    state.fail({call.number, code, words(functionName(call.id, call.form), ": ", what)});
  }
  return refuse(call, code);
}

Outcome refuseAfterFailure(const CollectiveCall& call, CommunicatorState& state) {
  int code = MPI_ERR_OTHER;
  {
    EngineLock lock;
    code = state.failure().code;
    if (!std::exchange(state.failure_told, true)) {
      complainOf(call, message(text(Reason::kFailedBefore), ": call ", state.failure().call, " on ",
                               state.description()));
    }
  }
  return refuse(call, code);
}

}  // namespace torc::pmpi
