// Requests of a dedicated rank, which looks at them and does not wait.
#ifndef TORC_RUNTIME_DEDICATED_REQUESTS_H_
#define TORC_RUNTIME_DEDICATED_REQUESTS_H_

#include <span>

#include <mpi.h>

#include "runtime/transport/smpi.h"

namespace torc::runtime::dedicated {

/// Whether all have been completed, or are null. On a simulated machine, where looking takes time,
/// only what has been waited for is found complete.
inline bool areComplete(std::span<MPI_Request> requests) {
  for (MPI_Request& request : requests) {
    int done = 1;
    if (request == MPI_REQUEST_NULL) continue;
    if (kSimulated) return false;
    PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (!done) return false;
  }
  return true;
}

}  // namespace torc::runtime::dedicated

#endif  // TORC_RUNTIME_DEDICATED_REQUESTS_H_
