// Communicators and collectives of the servers. They are called by their MPI_ names, unlike all
// other MPI calls in runtime/: for torc a server is a program, whose collectives it serves if it
// has schedules for the torus of the servers' nodes. SMPI has no suitable nonblocking collectives,
// or they send from every rank to every other: blocking ones replace them
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
/// Also makes progress on collectives that torc serves.
inline constexpr auto* testServers = &MPI_Test;

inline constexpr Starter<MPI_Allreduce, MPI_Iallreduce> startServersAllreduce;
inline constexpr Starter<MPI_Reduce, MPI_Ireduce> startServersReduce;
inline constexpr Starter<MPI_Bcast, MPI_Ibcast> startServersBroadcast;
inline constexpr Starter<MPI_Barrier, MPI_Ibarrier> startServersBarrier;
inline constexpr Starter<MPI_Allgatherv, MPI_Iallgatherv> startServersAllgatherv;
inline constexpr Starter<MPI_Alltoallv, MPI_Ialltoallv> startServersAlltoallv;

}  // namespace torc::runtime::dedicated

#endif  // TORC_RUNTIME_DEDICATED_SERVER_COLLECTIVES_H_
