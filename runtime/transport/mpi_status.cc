// MPI's error texts, and properties of communicators.
#include "runtime/transport/mpi_status.h"

#include <algorithm>
#include <numeric>
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

std::vector<int> translatedRanks(MPI_Comm comm, int first, int count, MPI_Group to) {
  std::vector<int> ranks(static_cast<std::size_t>(count)), there(ranks.size(), MPI_UNDEFINED);
  std::iota(ranks.begin(), ranks.end(), first);
  MPI_Group group = MPI_GROUP_NULL;
  if (PMPI_Comm_group(comm, &group) != MPI_SUCCESS) return there;
  PMPI_Group_translate_ranks(group, count, ranks.data(), to, there.data());
  PMPI_Group_free(&group);
  return there;
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
