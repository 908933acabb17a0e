// Requests between ranks of the program and dedicated ranks, and tests of MPI requests without
// waiting.
#ifndef TORC_RUNTIME_DEDICATED_REQUESTS_H_
#define TORC_RUNTIME_DEDICATED_REQUESTS_H_

#include <cstddef>
#include <span>

#include <mpi.h>

#include "runtime/dedicated/protocol.h"
#include "runtime/transport/mpi_status.h"
#include "runtime/transport/smpi.h"

namespace torc::runtime::dedicated {

/// Whether all are complete or null. On a simulated machine, where polling takes time, only
/// requests after a wait are complete.
inline bool areComplete(std::span<MPI_Request> requests, decltype(PMPI_Test)* test = PMPI_Test) {
  for (MPI_Request& request : requests) {
    int done = 1;
    if (request == MPI_REQUEST_NULL) continue;
    if (kSimulated) return false;
    test(&request, &done, MPI_STATUS_IGNORE);
    if (!done) return false;
  }
  return true;
}

/// Sends a request: the header and short data at `message`, `bytes` bytes together; long data, at
/// `data`, in a separate message. Returns MPI's error code.
inline int sendRequest(const Wire& wire, int to, const Request& request, const std::byte* message,
                       std::size_t bytes, const void* data, std::span<MPI_Request, 2> requests) {
  const int code = PMPI_Isend(message, static_cast<int>(bytes), MPI_BYTE, to, kRequestTag,
                              wire.comm, &requests[0]);
  if (code != MPI_SUCCESS || !request.is_long) return code;
  return PMPI_Isend(data, static_cast<int>(request.data_bytes), MPI_BYTE, to, dataTag(request.slot),
                    wire.comm, &requests[1]);
}

/// Receives the long data of a request from rank `from` on the wire.
inline Status receiveData(const Wire& wire, int from, const Request& request, void* data,
                          MPI_Request* received) {
  return mpiStatus(PMPI_Irecv(data, static_cast<int>(request.data_bytes), MPI_BYTE, from,
                              dataTag(request.slot), wire.comm, received),
                   "MPI_Irecv");
}

}  // namespace torc::runtime::dedicated

#endif  // TORC_RUNTIME_DEDICATED_REQUESTS_H_
