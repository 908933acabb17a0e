// MPI's collectives for tests whose ranks outnumber the cores: waiting ranks yield their cores.
// MPICH's own wait spins, and takes five times as long. Linked into the program, these precede
// MPI's. They also count words on request.
#include <algorithm>
#include <sched.h>

#include <mpi.h>

#include "tests/linalg/job.h"

namespace torc::linalg {
namespace {

bool counting = false;
WordCount count;

int wait(int count, MPI_Request* requests, MPI_Status* statuses) {
  for (;;) {
    int done = 0;
    const int result = PMPI_Testall(count, requests, &done, statuses);
    if (result != MPI_SUCCESS || done != 0) return result;
    sched_yield();
  }
}

/// Starts a call, and waits for it.
template <typename Start>
int wait(Start start) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int started = start(&request);
  return started != MPI_SUCCESS ? started : wait(1, &request, MPI_STATUSES_IGNORE);
}

double wordsOf(double elements, MPI_Datatype type) {
  int size = 0;
  MPI_Type_size(type, &size);
  return elements * size / 8;
}

int rankOf(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

/// Elements of all ranks but this one.
double others(const int counts[], MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  double sum = -counts[rankOf(comm)];
  for (int rank = 0; rank < size; ++rank)
    sum += counts[rank];
  return sum;
}

}  // namespace

void startCounting() {
  counting = true;
  count = {};
}

WordCount endCounting() {
  counting = false;
  return count;
}

void noteWords(MPI_Comm comm, double words) {
  if (!counting) return;
  count.words += words;
  double most[3] = {count.path, words, count.messages};
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Iallreduce(MPI_IN_PLACE, most, 3, MPI_DOUBLE, MPI_MAX, comm, &request);
  wait(1, &request, MPI_STATUSES_IGNORE);
  count.path = most[0] + most[1];
  count.messages = most[2] + 1;
}

}  // namespace torc::linalg

using namespace torc::linalg;

extern "C" {

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  return wait(1, request, status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  return wait(count, requests, statuses);
}

int MPI_Barrier(MPI_Comm comm) {
  return wait([&](MPI_Request* request) { return PMPI_Ibarrier(comm, request); });
}

int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request* request) {
  noteWords(comm, rankOf(comm) == root ? 0 : wordsOf(count, type));
  return PMPI_Ibcast(data, count, type, root, comm, request);
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return wait(
      [&](MPI_Request* request) { return MPI_Ibcast(data, count, type, root, comm, request); });
}

int MPI_Reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
  noteWords(comm, rankOf(comm) == root ? 0 : wordsOf(count, type));
  return wait([&](MPI_Request* request) {
    return PMPI_Ireduce(in, out, count, type, op, root, comm, request);
  });
}

int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  noteWords(comm, 2 * wordsOf(count, type) * (size - 1) / size);
  return wait([&](MPI_Request* request) {
    return PMPI_Iallreduce(in, out, count, type, op, comm, request);
  });
}

int MPI_Reduce_scatter(const void* in, void* out, const int counts[], MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm) {
  noteWords(comm, wordsOf(others(counts, comm), type));
  return wait([&](MPI_Request* request) {
    return PMPI_Ireduce_scatter(in, out, counts, type, op, comm, request);
  });
}

int MPI_Allgatherv(const void* in, int in_count, MPI_Datatype in_type, void* out,
                   const int counts[], const int places[], MPI_Datatype type, MPI_Comm comm) {
  noteWords(comm, wordsOf(others(counts, comm), type));
  return wait([&](MPI_Request* request) {
    return PMPI_Iallgatherv(in, in_count, in_type, out, counts, places, type, comm, request);
  });
}

int MPI_Alltoallv(const void* in, const int in_counts[], const int in_places[],
                  MPI_Datatype in_type, void* out, const int out_counts[], const int out_places[],
                  MPI_Datatype out_type, MPI_Comm comm) {
  noteWords(comm, std::max(wordsOf(others(in_counts, comm), in_type),
                           wordsOf(others(out_counts, comm), out_type)));
  return wait([&](MPI_Request* request) {
    return PMPI_Ialltoallv(in, in_counts, in_places, in_type, out, out_counts, out_places, out_type,
                           comm, request);
  });
}

}  // extern "C"
