// Communicators of programs that use MPI by sessions.
#ifndef TORC_RUNTIME_PMPI_WRAPPERS_SESSIONS_H_
#define TORC_RUNTIME_PMPI_WRAPPERS_SESSIONS_H_

#include <mpi.h>

namespace torc::runtime::pmpi {

/// Before a communicator is created from a group; called by each of its members. Before MPI_Init
/// torc serves no calls: prints a warning, if there is a library. Under TORC_STRICT that is an
/// error: MPI_ERR_OTHER, or the end of the process if `handler` ends jobs. Otherwise MPI_SUCCESS.
int noteGroupBeforeInit(MPI_Group group, MPI_Errhandler handler);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_WRAPPERS_SESSIONS_H_
