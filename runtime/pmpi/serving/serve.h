// The path of a call through torc: decision, and service or fallback; and the short path of a call
// that equals an earlier one on its communicator (calls/repeated_call.h).
#ifndef TORC_RUNTIME_PMPI_SERVING_SERVE_H_
#define TORC_RUNTIME_PMPI_SERVING_SERVE_H_

#include <mpi.h>

#include "runtime/collectives/call.h"
#include "runtime/pmpi/calls/collective_call.h"
#include "runtime/pmpi/engine/communicator_state.h"

namespace torc::runtime::pmpi {

/// Decides on the call, and serves it; a fallback is left to the caller. Returns after a blocking
/// call is complete, and does not wait in a nonblocking one; a persistent one may wait for the
/// other ranks, as MPI allows. `request`: for the last two. On an error it calls the communicator's
/// error handler last: the handler may leave by longjmp or an exception.
Verdict serve(CollectiveCall& call, MPI_Request* request);

/// Whether all ranks of the communicator make this fallback call.
bool isMadeByAll(const Verdict& verdict);

/// Records in the statistics that MPI has returned `code` for the call. Returns `code`.
int handedBack(CollectiveCall& call, int code);

// ---- Repeated calls

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

#endif  // TORC_RUNTIME_PMPI_SERVING_SERVE_H_
