#include "runtime/run/world/yielding_collectives.h"

#include "runtime/transport/yielding_wait.h"

namespace torc::runtime {

void barrier(MPI_Comm comm) {
  makeYielding(PMPI_Barrier, PMPI_Ibarrier, comm);
}

void allreduce(void* data, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  makeYielding(PMPI_Allreduce, PMPI_Iallreduce, MPI_IN_PLACE, data, count, type, op, comm);
}

void broadcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  makeYielding(PMPI_Bcast, PMPI_Ibcast, data, count, type, root, comm);
}

}  // namespace torc::runtime
