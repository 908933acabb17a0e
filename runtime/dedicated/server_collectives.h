// Communicators and collectives of the servers. They are called by MPI's own names, unlike
// everything else in runtime/: a server is to torc what a program is, whose collectives torc serves
// where it has schedules for the torus that the servers' nodes form. SMPI's nonblocking collectives
// are none, or send from every rank to every other: there they are blocking ones
// (runtime/transport/smpi.h).
#ifndef TORC_RUNTIME_DEDICATED_SERVER_COLLECTIVES_H_
#define TORC_RUNTIME_DEDICATED_SERVER_COLLECTIVES_H_

#include <mpi.h>

#include "runtime/dedicated/requests.h"
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
  return areComplete({&request, 1}, MPI_Test);
}

/// `arguments` are those of the blocking function.
template <typename... Arguments>
int startServersAllreduce(MPI_Request* request, Arguments... arguments) {
  return startCollective(MPI_Allreduce, MPI_Iallreduce, request, arguments...);
}
template <typename... Arguments>
int startServersReduce(MPI_Request* request, Arguments... arguments) {
  return startCollective(MPI_Reduce, MPI_Ireduce, request, arguments...);
}
template <typename... Arguments>
int startServersBroadcast(MPI_Request* request, Arguments... arguments) {
  return startCollective(MPI_Bcast, MPI_Ibcast, request, arguments...);
}
inline int startServersBarrier(MPI_Request* request, MPI_Comm comm) {
  return startCollective(MPI_Barrier, MPI_Ibarrier, request, comm);
}
template <typename... Arguments>
int startServersAllgatherv(MPI_Request* request, Arguments... arguments) {
  return startCollective(MPI_Allgatherv, MPI_Iallgatherv, request, arguments...);
}
template <typename... Arguments>
int startServersAlltoallv(MPI_Request* request, Arguments... arguments) {
  return startCollective(MPI_Alltoallv, MPI_Ialltoallv, request, arguments...);
}

}  // namespace torc::runtime::dedicated

#endif  // TORC_RUNTIME_DEDICATED_SERVER_COLLECTIVES_H_
