// Nodes, from MPI.
#include "runtime/dedicated/nodes.h"

#include <algorithm>
#include <cstddef>
#include <thread>

#include <mpi.h>

#include "runtime/service/service_collective.h"
#include "runtime/transport/mpi_status.h"

namespace torc::runtime::dedicated {

StatusOr<std::vector<int>> findNodes() {
  MPI_Comm node = MPI_COMM_NULL;
  const int rank = commRank(MPI_COMM_WORLD), ranks = commSize(MPI_COMM_WORLD);
  const int code =
      PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  if (code != MPI_SUCCESS) return mpiStatus(code, "MPI_Comm_split_type");
  int first = rank;
  ServiceCollective telling;
  telling.broadcast(node, &first, sizeof(first), 0);
  if (Status status = telling.wait(); !status.ok()) return status;
  PMPI_Comm_free(&node);
  std::vector<int> nodes(static_cast<std::size_t>(ranks));
  telling.allgather(MPI_COMM_WORLD, &first, nodes.data(), sizeof(first));
  if (Status status = telling.wait(); !status.ok()) return status;
  return nodes;
}

bool isCrowded(const std::vector<int>& nodes) {
  return std::ranges::count(nodes, nodes[commRank(MPI_COMM_WORLD)]) >
         static_cast<std::ptrdiff_t>(std::thread::hardware_concurrency());
}

}  // namespace torc::runtime::dedicated
