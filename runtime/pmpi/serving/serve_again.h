// A call like one before on its communicator, which goes the short way (calls/repeated_call.h).
#ifndef TORC_RUNTIME_PMPI_SERVING_SERVE_AGAIN_H_
#define TORC_RUNTIME_PMPI_SERVING_SERVE_AGAIN_H_

#include "runtime/collectives/call.h"
#include "runtime/job/call_arguments.h"
#include "runtime/pmpi/calls/collective_call.h"
#include "runtime/pmpi/calls/verdict.h"
#include "runtime/pmpi/engine/communicator_state.h"

namespace torc::runtime::pmpi {

/// Whether a call may be a repeated one. What a trace shows is a call's way through everything.
bool mayRepeat(const CollectiveCall& call);

/// Keeps what a call has become for the next one like it. `schedule`: null: it falls back to MPI.
void keepRepeated(const CallKey& key, const CollectiveCall& call, CommunicatorState& state,
                  const Call& checked, torc_schedule* schedule) TORC_EXCLUDES(engine_lock);

/// A call like one before, where nothing else is under way on its communicator: gets its verdict
/// and, where it does not fall back to MPI, is served. False: it is served as any other.
bool serveAgain(CollectiveCall& call, const CallKey& key, CommunicatorState& state)
    TORC_EXCLUDES(engine_lock);

/// The same of a blocking call on `comm`, without dedicated ranks or a trace. An open verdict: it
/// is served as any other.
Verdict serveAtOnce(const BriefCall& brief, MPI_Comm comm) TORC_EXCLUDES(engine_lock);
/// Calls with lists are never kept.
inline Verdict serveAtOnce(const CallArguments&, MPI_Comm) {
  return {};
}

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_SERVING_SERVE_AGAIN_H_
