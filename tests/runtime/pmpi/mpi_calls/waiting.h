// All ways in which a program can wait for requests.
#ifndef TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_WAITING_H_
#define TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_WAITING_H_

#include <vector>

#include <mpi.h>

namespace mpi_calls {

/// MPI's functions; kGetStatus first tests without freeing the request. Those of one request take
/// the first that is not null.
enum class Waiting {
  kWait,
  kTest,
  kGetStatus,
  kWaitall,
  kTestall,
  kWaitany,
  kTestany,
  kWaitsome,
  kTestsome,
  kCount
};

/// "MPI_Waitany".
const char* nameOf(Waiting way);

/// Waits until some are complete, and returns them, with their statuses on request; MPI_UNDEFINED
/// alone: none is active. Returns MPI's code.
int completeSome(Waiting way, std::vector<MPI_Request>& requests, std::vector<int>& indices,
                 std::vector<MPI_Status>* statuses);

}  // namespace mpi_calls

#endif  // TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_WAITING_H_
