// MPI's collectives for tests whose ranks outnumber the cores: what waits hands its core on.
// MPICH's own wait spins, and five times as long goes by. Linked into the program, these come
// before MPI's.
#include <sched.h>

#include <mpi.h>

namespace {

int wait(int count, MPI_Request* requests, MPI_Status* statuses) {
  for (;;) {
    int done = 0;
    const int result = PMPI_Testall(count, requests, &done, statuses);
    if (result != MPI_SUCCESS || done != 0) return result;
    sched_yield();
  }
}

int wait(int started, MPI_Request request) {
  return started != MPI_SUCCESS ? started : wait(1, &request, MPI_STATUSES_IGNORE);
}

}  // namespace

extern "C" {

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  return wait(count, requests, statuses);
}

int MPI_Barrier(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int started = PMPI_Ibarrier(comm, &request);
  return wait(started, request);
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int started = PMPI_Ibcast(data, count, type, root, comm, &request);
  return wait(started, request);
}

int MPI_Reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int started = PMPI_Ireduce(in, out, count, type, op, root, comm, &request);
  return wait(started, request);
}

int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int started = PMPI_Iallreduce(in, out, count, type, op, comm, &request);
  return wait(started, request);
}

int MPI_Alltoallv(const void* in, const int in_counts[], const int in_places[],
                  MPI_Datatype in_type, void* out, const int out_counts[], const int out_places[],
                  MPI_Datatype out_type, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int started = PMPI_Ialltoallv(in, in_counts, in_places, in_type, out, out_counts,
                                      out_places, out_type, comm, &request);
  return wait(started, request);
}

}  // extern "C"
