// What MPI says of an error and of a communicator.
//
// Here and in all of runtime/ MPI is called by its PMPI_ names. The interposer
// (runtime/pmpi/) defines the MPI_ names to serve the program's calls: torc's own must go past it,
// or they would be counted, held back for progress, and served by torc itself.
#ifndef TORC_RUNTIME_TRANSPORT_MPI_STATUS_H_
#define TORC_RUNTIME_TRANSPORT_MPI_STATUS_H_

#include <mpi.h>

#include "support/status.h"

namespace torc::runtime {

/// What an MPI call returned, as a status: `MPI_Start: Invalid rank, error stack: ...`, one line.
Status mpiStatus(int code, const char* call);

/// The highest tag of messages on a communicator.
int highestTag(MPI_Comm comm);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_MPI_STATUS_H_
