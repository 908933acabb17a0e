// Meetings: how the members of a communicator to be wait for each other before MPI makes it. MPI's
// functions that create communicators wait inside MPI, where torc makes no progress: a rank that
// waits for torc elsewhere must not be waited for there. So all meet first, with progress.
#ifndef TORC_RUNTIME_PMPI_ENGINE_MEETING_H_
#define TORC_RUNTIME_PMPI_ENGINE_MEETING_H_

#include <mpi.h>

#include "runtime/pmpi/process/engine_lock.h"

namespace torc::runtime::pmpi {

/// Of all ranks of `comm`, an intra- or intercommunicator. No-op for MPI_COMM_NULL.
void meet(MPI_Comm comm) TORC_EXCLUDES(engine_lock);

/// Of a group that contains the caller; `tag` tells apart meetings of several threads. No-op where
/// it has members outside of MPI_COMM_WORLD.
void meetGroup(MPI_Group group, int tag) TORC_EXCLUDES(engine_lock);

/// Of the two groups of an intercommunicator to be: `local`, and the leaders' rank in `peers`,
/// which counts on the local leader alone.
void meetLeaders(MPI_Comm local, int local_leader, MPI_Comm peers, int remote_leader, int tag)
    TORC_EXCLUDES(engine_lock);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_ENGINE_MEETING_H_
