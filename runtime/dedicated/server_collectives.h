// Communicators and collectives of the servers. They are called by MPI's own names, unlike
// everything else in runtime/: a server is to torc what a program is, whose collectives torc serves
// where it has schedules for the torus that the servers' nodes form. SMPI's nonblocking collectives
// are none, or send from every rank to every other: there they are blocking ones
// (runtime/transport/smpi.h).
#ifndef TORC_RUNTIME_DEDICATED_SERVER_COLLECTIVES_H_
#define TORC_RUNTIME_DEDICATED_SERVER_COLLECTIVES_H_

#include <mpi.h>

#include "runtime/transport/smpi.h"

namespace torc::runtime::dedicated {

inline int duplicateServers(MPI_Comm comm, MPI_Comm* made) {
  return MPI_Comm_dup(comm, made);
}
inline int chooseServers(MPI_Comm comm, MPI_Group group, MPI_Comm* made) {
  return MPI_Comm_create_group(comm, group, 0, made);
}
inline int freeServers(MPI_Comm* comm) {
  return MPI_Comm_free(comm);
}

/// Moves a collective of the servers on, too, where torc serves it.
inline bool isServersCollectiveComplete(MPI_Request& request) {
  int done = 1;
  if (request == MPI_REQUEST_NULL) return true;
  if constexpr (kSimulated) return false;
  MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  return done != 0;
}

inline constexpr Starter<MPI_Allreduce, MPI_Iallreduce> startServersAllreduce;
inline constexpr Starter<MPI_Reduce, MPI_Ireduce> startServersReduce;
inline constexpr Starter<MPI_Bcast, MPI_Ibcast> startServersBroadcast;
inline constexpr Starter<MPI_Barrier, MPI_Ibarrier> startServersBarrier;
inline constexpr Starter<MPI_Allgatherv, MPI_Iallgatherv> startServersAllgatherv;
inline constexpr Starter<MPI_Alltoallv, MPI_Ialltoallv> startServersAlltoallv;

}  // namespace torc::runtime::dedicated

#endif  // TORC_RUNTIME_DEDICATED_SERVER_COLLECTIVES_H_
