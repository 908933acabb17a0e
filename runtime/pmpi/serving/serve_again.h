// A call like one before on its communicator, which goes the short way (calls/repeated_call.h).
#ifndef TORC_RUNTIME_PMPI_SERVING_SERVE_AGAIN_H_
#define TORC_RUNTIME_PMPI_SERVING_SERVE_AGAIN_H_

#include <memory>
#include <optional>

#include "runtime/collectives/call.h"
#include "runtime/pmpi/calls/brief_call.h"
#include "runtime/pmpi/calls/collective_call.h"
#include "runtime/pmpi/calls/repeated_call.h"
#include "runtime/pmpi/engine/communicator_state.h"
#include "runtime/pmpi/engine/operation.h"

namespace torc::runtime::pmpi {

/// Whether a call may be a repeated one. What a trace shows is a call's way through everything.
bool mayRepeat(const CollectiveCall& call);

/// Keeps what a call has become for the next one like it. `schedule`: null: it is MPI's.
void keepRepeated(const CallKey& key, const CollectiveCall& call, CommunicatorState& state,
                  const Call& checked, torc_schedule* schedule) TORC_EXCLUDES(engine_lock);

/// A call like one before, where nothing else is under way on its communicator: gets its verdict
/// and, where it is not MPI's, is served. Returns its error class. None: it is served as any other.
std::optional<int> serveAgain(CollectiveCall& call, const CallKey& key, CommunicatorState& state)
    TORC_EXCLUDES(engine_lock);

/// What is not a code of MPI's: the call is to be described, or it is MPI's.
inline constexpr int kNotAtOnce = -1, kLeftToMpi = -2;
/// The same of a call that is not described yet, where nobody has to be told of it. Returns its
/// code.
int serveAtOnce(const BriefCall& brief, MPI_Comm comm) TORC_EXCLUDES(engine_lock);
/// Calls that are never kept.
inline int serveAtOnce(NoBriefCall, MPI_Comm) {
  return kNotAtOnce;
}

/// Waits for an operation that has begun. Returns its error class.
int awaitEnd(std::unique_ptr<Operation> operation) TORC_EXCLUDES(engine_lock);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_SERVING_SERVE_AGAIN_H_
