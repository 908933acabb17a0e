// Meetings: barriers, with progress, of the members of a future communicator before MPI creates it.
// MPI's functions that create communicators wait inside MPI, where torc makes no progress. A rank
// that still waits for an operation of torc elsewhere would never arrive there.
#ifndef TORC_RUNTIME_PMPI_ENGINE_MEETING_H_
#define TORC_RUNTIME_PMPI_ENGINE_MEETING_H_

#include <mpi.h>

#include "runtime/pmpi/process/engine_lock.h"

namespace torc::runtime::pmpi {

/// All ranks of `comm`, an intra- or intercommunicator. No-op for MPI_COMM_NULL.
void meet(MPI_Comm comm) TORC_EXCLUDES(engine_lock);

/// All ranks of a group that contains the caller; `tag` separates meetings of several threads.
/// No-op if some members are outside of MPI_COMM_WORLD.
void meetGroup(MPI_Group group, int tag) TORC_EXCLUDES(engine_lock);

/// The two groups of a future intercommunicator: `local`, and the remote leader's rank in `peers`,
/// which is significant at the local leader only.
void meetLeaders(MPI_Comm local, int local_leader, MPI_Comm peers, int remote_leader, int tag)
    TORC_EXCLUDES(engine_lock);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_ENGINE_MEETING_H_
