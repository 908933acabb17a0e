// A call on its way through torc: the decision, and what follows from it.
#ifndef TORC_RUNTIME_PMPI_SERVING_SERVE_H_
#define TORC_RUNTIME_PMPI_SERVING_SERVE_H_

#include <mpi.h>

#include "runtime/pmpi/calls/collective_call.h"

namespace torc::runtime::pmpi {

/// Finds who makes the call, and makes it unless it falls back to MPI, which is left to the caller.
/// Returns when a blocking call is complete, and does not wait in a nonblocking one; a persistent
/// one may wait for the other ranks, as MPI allows. `request`: of those two. Where it fails, the
/// communicator's error handler is told at the very end: it may leave by a longjmp or an exception.
Verdict serve(CollectiveCall& call, MPI_Request* request);

/// Whether all ranks of its communicator are in a call that falls back.
bool isMadeByAll(const Verdict& verdict);

/// Notes in the statistics that MPI has returned `code` for the call. Gives it back.
int handedBack(CollectiveCall& call, int code);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_SERVING_SERVE_H_
