// Programs that use MPI by sessions.
#ifndef TORC_RUNTIME_PMPI_WRAPPERS_SESSIONS_H_
#define TORC_RUNTIME_PMPI_WRAPPERS_SESSIONS_H_

#include <mpi.h>

namespace torc::runtime::pmpi {

/// A communicator is about to be made from a group, by each of its members. Before MPI_Init torc
/// serves no calls: a warning says so, where there is a library. Under TORC_STRICT it is an error:
/// MPI_ERR_OTHER, or the end of the process where `handler` ends jobs. Else MPI_SUCCESS.
int noteGroupBeforeInit(MPI_Group group, MPI_Errhandler handler);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_WRAPPERS_SESSIONS_H_
