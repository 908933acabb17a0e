// The path of a call through torc: decision, and service or fallback.
#ifndef TORC_RUNTIME_PMPI_SERVING_SERVE_H_
#define TORC_RUNTIME_PMPI_SERVING_SERVE_H_

#include <mpi.h>

#include "runtime/pmpi/calls/collective_call.h"

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

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_SERVING_SERVE_H_
