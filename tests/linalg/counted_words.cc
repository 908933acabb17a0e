// MPI's collectives with a count of their words, on request. Linked into the program, these precede
// MPI's.
#include <algorithm>

#include <mpi.h>

#include "tests/linalg/job.h"

namespace torc::linalg {
namespace {

bool counting = false;
WordCount count;

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
  PMPI_Allreduce(MPI_IN_PLACE, most, 3, MPI_DOUBLE, MPI_MAX, comm);
  count.path = most[0] + most[1];
  count.messages = most[2] + 1;
}

}  // namespace torc::linalg

using namespace torc::linalg;

extern "C" {

int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request* request) {
  noteWords(comm, rankOf(comm) == root ? 0 : wordsOf(count, type));
  return PMPI_Ibcast(data, count, type, root, comm, request);
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  noteWords(comm, rankOf(comm) == root ? 0 : wordsOf(count, type));
  return PMPI_Bcast(data, count, type, root, comm);
}

int MPI_Reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
  noteWords(comm, rankOf(comm) == root ? 0 : wordsOf(count, type));
  return PMPI_Reduce(in, out, count, type, op, root, comm);
}

int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  noteWords(comm, 2 * wordsOf(count, type) * (size - 1) / size);
  return PMPI_Allreduce(in, out, count, type, op, comm);
}

int MPI_Reduce_scatter(const void* in, void* out, const int counts[], MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm) {
  noteWords(comm, wordsOf(others(counts, comm), type));
  return PMPI_Reduce_scatter(in, out, counts, type, op, comm);
}

int MPI_Allgatherv(const void* in, int in_count, MPI_Datatype in_type, void* out,
                   const int counts[], const int places[], MPI_Datatype type, MPI_Comm comm) {
  noteWords(comm, wordsOf(others(counts, comm), type));
  return PMPI_Allgatherv(in, in_count, in_type, out, counts, places, type, comm);
}

int MPI_Alltoallv(const void* in, const int in_counts[], const int in_places[],
                  MPI_Datatype in_type, void* out, const int out_counts[], const int out_places[],
                  MPI_Datatype out_type, MPI_Comm comm) {
  noteWords(comm, std::max(wordsOf(others(in_counts, comm), in_type),
                           wordsOf(others(out_counts, comm), out_type)));
  return PMPI_Alltoallv(in, in_counts, in_places, in_type, out, out_counts, out_places, out_type,
                        comm);
}

}  // extern "C"
