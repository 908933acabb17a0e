// Waits and MPI collectives that yield the core: MPICH's own spin, which costs tens of milliseconds
// if there are more ranks than cores.
#ifndef TORC_RUNTIME_TRANSPORT_YIELDING_WAIT_H_
#define TORC_RUNTIME_TRANSPORT_YIELDING_WAIT_H_

#include <mpi.h>

#include "runtime/transport/smpi.h"
#include "support/backoff.h"

namespace torc::runtime {

/// MPI_Wait for the request of a call that returned `started`; an error there is returned at once.
/// On a simulated machine, where polling takes time, it waits inside MPI.
template <typename Meanwhile = void (*)()>
int waitYielding(
    int started, MPI_Request* request, Meanwhile meanwhile = [] {}) {
  if (started != MPI_SUCCESS || *request == MPI_REQUEST_NULL) return started;
  if constexpr (kSimulated) return PMPI_Wait(request, MPI_STATUS_IGNORE);
  int done = 0;
  for (Backoff backoff;; backoff.afterLook()) {
    const int code = PMPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (done || code != MPI_SUCCESS) return code;
    meanwhile();
  }
}

inline void barrier(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  waitYielding(startBarrier(&request, comm), &request);
}

/// In place.
inline void allreduce(void* data, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  waitYielding(startAllreduce(&request, MPI_IN_PLACE, data, count, type, op, comm), &request);
}

inline void broadcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  waitYielding(startBroadcast(&request, data, count, type, root, comm), &request);
}

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_YIELDING_WAIT_H_
