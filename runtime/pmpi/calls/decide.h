// Who serves a call: torc, or MPI and why.
#ifndef TORC_RUNTIME_PMPI_CALLS_DECIDE_H_
#define TORC_RUNTIME_PMPI_CALLS_DECIDE_H_

#include "runtime/pmpi/calls/collective_call.h"
#include "runtime/pmpi/calls/reason.h"

namespace torc::pmpi {

/// Looks at the arguments of a call on an intracommunicator of `size` ranks, of which the caller is
/// `rank`. Fills in `call.bytes`. kServed: torc can run it, if it has a schedule.
///
/// Of a correct program every rank gets the same answer: it depends on the number of bytes, the
/// operation and, in reductions, the datatype, which MPI demands to be the same everywhere. It does
/// not depend on buffers, nor on how an allgather's data is described, which may differ. kArgument
/// and kOwnBlock may be one rank's alone. Throws std::bad_alloc.
Reason checkArguments(CollectiveCall& call, int rank, int size);

}  // namespace torc::pmpi

#endif  // TORC_RUNTIME_PMPI_CALLS_DECIDE_H_
