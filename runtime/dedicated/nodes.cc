// Nodes, by MPI.
#include "runtime/dedicated/nodes.h"

#include <algorithm>
#include <cstddef>
#include <thread>

#include <mpi.h>

#include "runtime/transport/mpi_status.h"
#include "runtime/transport/yielding_wait.h"

namespace torc::runtime::dedicated {

StatusOr<std::vector<int>> findNodes() {
  MPI_Comm node = MPI_COMM_NULL;
  int rank = 0, ranks = 1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int code = PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  if (code != MPI_SUCCESS) return mpiStatus(code, "MPI_Comm_split_type");
  int first = rank;
  code = makeYielding(PMPI_Bcast, PMPI_Ibcast, &first, 1, MPI_INT, 0, node);
  if (code != MPI_SUCCESS) return mpiStatus(code, "MPI_Ibcast");
  PMPI_Comm_free(&node);
  std::vector<int> nodes(static_cast<std::size_t>(ranks));
  code = makeYielding(PMPI_Allgather, PMPI_Iallgather, &first, 1, MPI_INT, nodes.data(), 1, MPI_INT,
                      MPI_COMM_WORLD);
  if (code != MPI_SUCCESS) return mpiStatus(code, "MPI_Iallgather");
  return nodes;
}

bool isCrowded(const std::vector<int>& nodes) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return std::ranges::count(nodes, nodes[static_cast<std::size_t>(rank)]) >
         static_cast<std::ptrdiff_t>(std::thread::hardware_concurrency());
}

}  // namespace torc::runtime::dedicated
