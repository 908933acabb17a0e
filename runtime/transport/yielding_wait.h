// Waits that give the core away: MPICH's own spin, which costs tens of milliseconds where ranks
// outnumber cores.
#ifndef TORC_RUNTIME_TRANSPORT_YIELDING_WAIT_H_
#define TORC_RUNTIME_TRANSPORT_YIELDING_WAIT_H_

#include <mpi.h>

#include "runtime/transport/smpi.h"
#include "support/backoff.h"

namespace torc::runtime {

/// MPI_Wait for what `started` has begun, whose error comes first. On a simulated machine, where
/// looking takes time, inside MPI.
inline int waitYielding(int started, MPI_Request* request) {
  if (started != MPI_SUCCESS || *request == MPI_REQUEST_NULL) return started;
  if constexpr (kSimulated) return PMPI_Wait(request, MPI_STATUS_IGNORE);
  int done = 0;
  for (Backoff backoff;; backoff.afterLook()) {
    const int code = PMPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (done || code != MPI_SUCCESS) return code;
  }
}

/// Makes a collective of MPI: starts it by its nonblocking function and waits so.
template <typename Blocking, typename Nonblocking, typename... Arguments>
int makeYielding(Blocking* blocking, Nonblocking* nonblocking, Arguments... arguments) {
  MPI_Request request = MPI_REQUEST_NULL;
  return waitYielding(startCollective(blocking, nonblocking, &request, arguments...), &request);
}

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_YIELDING_WAIT_H_
