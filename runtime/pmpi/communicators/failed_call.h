// Failed call: how the program hears of a collective call that has failed on this rank, or of one
// that comes after such a call.
#ifndef TORC_RUNTIME_PMPI_COMMUNICATORS_FAILED_CALL_H_
#define TORC_RUNTIME_PMPI_COMMUNICATORS_FAILED_CALL_H_

#include <string>

#include "runtime/pmpi/calls/collective_call.h"
#include "runtime/pmpi/calls/serve.h"
#include "runtime/pmpi/communicators/communicator_state.h"

namespace torc::pmpi {

/// An error of this call, told to the communicator's error handler.
Outcome refuse(const CollectiveCall& call, int code);

/// The call has failed on this rank, where there is no operation that could fail.
Outcome failHere(const CollectiveCall& call, CommunicatorState& state, int code,
                 const std::string& what);

/// A call on a communicator on which an earlier one has failed: nobody can know who would come.
Outcome refuseAfterFailure(const CollectiveCall& call, CommunicatorState& state);

}  // namespace torc::pmpi

#endif  // TORC_RUNTIME_PMPI_COMMUNICATORS_FAILED_CALL_H_
