// Repeated calls: the short path of a call that equals an earlier one on its communicator
// (calls/repeated_call.h).
#ifndef TORC_RUNTIME_PMPI_SERVING_SERVE_AGAIN_H_
#define TORC_RUNTIME_PMPI_SERVING_SERVE_AGAIN_H_

#include "runtime/collectives/call.h"
#include "runtime/job/call_arguments.h"
#include "runtime/pmpi/calls/collective_call.h"
#include "runtime/pmpi/engine/communicator_state.h"

namespace torc::runtime::pmpi {

/// Whether a call may be repeated. A traced call takes the full path.
bool mayRepeat(const CollectiveCall& call);

/// Keeps the plan and verdict of a call for the next one like it. `schedule`: null: it falls back
/// to MPI.
void keepRepeated(const CallKey& key, const CollectiveCall& call, CommunicatorState& state,
                  const Call& checked, torc_schedule* schedule) TORC_EXCLUDES(engine_lock);

/// Serves a call that equals an earlier one, if its communicator is idle: sets its verdict and,
/// unless it falls back to MPI, serves it. False: the call must take the full path.
bool serveAgain(CollectiveCall& call, const CallKey& key, CommunicatorState& state)
    TORC_EXCLUDES(engine_lock);

/// The same for a blocking call on `comm`, without dedicated ranks or a trace. An open verdict: the
/// call must take the full path.
Verdict serveAtOnce(const BriefCall& brief, MPI_Comm comm) TORC_EXCLUDES(engine_lock);
/// Calls with lists are never kept.
inline Verdict serveAtOnce(const CallArguments&, MPI_Comm) {
  return {};
}

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_SERVING_SERVE_AGAIN_H_
