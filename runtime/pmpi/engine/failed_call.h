// Failed call: how the program hears of a collective call that has failed, on this rank or another.
#ifndef TORC_RUNTIME_PMPI_ENGINE_FAILED_CALL_H_
#define TORC_RUNTIME_PMPI_ENGINE_FAILED_CALL_H_

#include <optional>
#include <string>

#include "runtime/pmpi/calls/collective_call.h"
#include "runtime/pmpi/engine/communicator_state.h"

namespace torc::runtime::pmpi {

/// The call has failed on this rank, where there is no operation that could fail. Returns `code`.
int failHere(const CollectiveCall& call, CommunicatorState& state, int code,
             const std::string& what) TORC_EXCLUDES(engine_lock);

/// The error class of a call that has failed on another rank before this one has come to it; none:
/// it has not.
std::optional<int> failedElsewhere(const CollectiveCall& call, const CommunicatorState& state)
    TORC_EXCLUDES(engine_lock);

/// Before a call of a function that MPI has refused here, and which other ranks may have given up:
/// finds out whether they have, in half a second at most.
void recall(CallId id, CommunicatorState& state) TORC_EXCLUDES(engine_lock);

/// Tells the communicator's error handler of an error of this call, if it has one, at its very end:
/// the handler may leave by a longjmp or an exception.
Outcome refuse(const CollectiveCall& call, int code) TORC_EXCLUDES(engine_lock);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_ENGINE_FAILED_CALL_H_
