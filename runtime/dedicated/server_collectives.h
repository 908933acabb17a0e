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

inline int startServersAllreduce(void* vector, int count, MPI_Datatype type, MPI_Op op,
                                 MPI_Comm comm, MPI_Request* request) {
  if constexpr (kSimulated) return MPI_Allreduce(MPI_IN_PLACE, vector, count, type, op, comm);
  return MPI_Iallreduce(MPI_IN_PLACE, vector, count, type, op, comm, request);
}

inline int startServersReduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                              int root, MPI_Comm comm, MPI_Request* request) {
  if constexpr (kSimulated) return MPI_Reduce(in, out, count, type, op, root, comm);
  return MPI_Ireduce(in, out, count, type, op, root, comm, request);
}

inline int startServersBroadcast(void* vector, int bytes, int root, MPI_Comm comm,
                                 MPI_Request* request) {
  if constexpr (kSimulated) return MPI_Bcast(vector, bytes, MPI_BYTE, root, comm);
  return MPI_Ibcast(vector, bytes, MPI_BYTE, root, comm, request);
}

inline int startServersBarrier(MPI_Comm comm, MPI_Request* request) {
  if constexpr (kSimulated) return MPI_Barrier(comm);
  return MPI_Ibarrier(comm, request);
}

/// Counts and offsets are bytes.
inline int startServersAllgatherv(const void* in, int bytes, void* out, const int* counts,
                                  const int* offsets, MPI_Comm comm, MPI_Request* request) {
  if constexpr (kSimulated) {
    return MPI_Allgatherv(in, bytes, MPI_BYTE, out, counts, offsets, MPI_BYTE, comm);
  }
  return MPI_Iallgatherv(in, bytes, MPI_BYTE, out, counts, offsets, MPI_BYTE, comm, request);
}

inline int startServersAlltoallv(const void* in, const int* in_counts, const int* in_offsets,
                                 void* out, const int* counts, const int* offsets, MPI_Comm comm,
                                 MPI_Request* request) {
  if constexpr (kSimulated) {
    return MPI_Alltoallv(in, in_counts, in_offsets, MPI_BYTE, out, counts, offsets, MPI_BYTE, comm);
  }
  return MPI_Ialltoallv(in, in_counts, in_offsets, MPI_BYTE, out, counts, offsets, MPI_BYTE, comm,
                        request);
}

}  // namespace torc::runtime::dedicated

#endif  // TORC_RUNTIME_DEDICATED_SERVER_COLLECTIVES_H_
