#include "runtime/run/world/yielding_collectives.h"

#include "runtime/transport/smpi.h"
#include "runtime/transport/yielding_wait.h"

namespace torc::runtime {
void barrier(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  waitYielding(startBarrier(comm, &request), &request);
}

void allreduce(void* data, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  waitYielding(startAllreduce(MPI_IN_PLACE, data, count, type, op, comm, &request), &request);
}

void broadcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  waitYielding(startBroadcast(data, count, type, root, comm, &request), &request);
}

}  // namespace torc::runtime
