// MPI's error texts, and properties of communicators.
#include "runtime/transport/mpi_status.h"

#include <algorithm>
#include <string>

namespace torc::runtime {

Status mpiStatus(int code, const char* call) {
  if (code == MPI_SUCCESS) return {};
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  std::string message = call;
  if (PMPI_Error_string(code, text, &length) == MPI_SUCCESS) {
    message += ": " + std::string(text, static_cast<std::size_t>(length));
  } else {
    message += ": MPI error " + std::to_string(code);
  }
  std::replace(message.begin(), message.end(), '\n', ' ');
  return {StatusCode::kTransport, message};
}

int highestTag(MPI_Comm comm) {
  int* upper_bound = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(comm, MPI_TAG_UB, &upper_bound, &found);
  // Open MPI has the attribute only on MPI_COMM_WORLD and its duplicates.
  int has_world = 0;
  if (!found) PMPI_Initialized(&has_world);
  if (has_world) PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &upper_bound, &found);
  return found ? *upper_bound : 32767;  // the minimum that MPI guarantees
}

}  // namespace torc::runtime
