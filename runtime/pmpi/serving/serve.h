// A call on its way through torc: the decision, and what follows from it.
#ifndef TORC_RUNTIME_PMPI_SERVING_SERVE_H_
#define TORC_RUNTIME_PMPI_SERVING_SERVE_H_

#include <mpi.h>

#include "runtime/pmpi/calls/collective_call.h"

namespace torc::runtime::pmpi {

/// Returns when the call is complete, or MPI's.
Outcome serveBlocking(CollectiveCall& call);

/// Never waits.
Outcome serveNonblocking(CollectiveCall& call, MPI_Request* request);

/// May wait for the other ranks, as MPI allows.
Outcome servePersistent(CollectiveCall& call, MPI_Request* request);

/// Whether all ranks of its communicator are in a call that is MPI's.
bool isMadeByAll(const CollectiveCall& call);

/// Notes in the statistics that MPI has returned `code` for the call. Gives it back.
int handedBack(CollectiveCall& call, int code);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_SERVING_SERVE_H_
