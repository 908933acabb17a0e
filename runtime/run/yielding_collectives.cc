#include "runtime/run/yielding_collectives.h"

#include <sched.h>

#include "runtime/transport/smpi.h"

namespace torc {
namespace {

void waitYielding(MPI_Request request) {
  for (int done = 0; done == 0 && request != MPI_REQUEST_NULL;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done == 0) sched_yield();
  }
}

}  // namespace

void barrier(MPI_Comm comm) {
  MPI_Request request;
  startBarrier(comm, &request);
  waitYielding(request);
}

void allreduce(void* data, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  MPI_Request request;
  startAllreduce(MPI_IN_PLACE, data, count, type, op, comm, &request);
  waitYielding(request);
}

void broadcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  MPI_Request request;
  startBroadcast(data, count, type, root, comm, &request);
  waitYielding(request);
}

}  // namespace torc
