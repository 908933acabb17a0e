// Blocking collectives with counts that differ between ranks, while a nonblocking one is active:
// reports of each on each rank.
#include "tests/runtime/pmpi/mpi_calls/collectives.h"

#include <cstdio>

#include <mpi.h>

#include "tests/runtime/pmpi/alike/told.h"

namespace {

enum { kTooLong = 8, kRoom = 4, kMost = 16 };

MPI_Comm own;
int rank, size;
int in[kMost * kTooLong], out[kMost * kTooLong];

/// A call with these counts, and in lists as many for each rank; of alltoalls rank 1 sends rank 0
/// more.
int call(const char* stem, int in_count, int count) {
  const mpi_calls::Collective& collective = mpi_calls::collectiveCalled(stem);
  mpi_calls::Arguments arguments;
  arguments.in = in;
  arguments.out = out;
  arguments.in_type = arguments.type = MPI_INT;
  arguments.op = MPI_SUM;
  arguments.comm = own;
  auto& numbers = arguments.narrow;
  numbers.in_count = in_count;
  numbers.count = count;
  numbers.in_counts.assign(size, in_count);
  numbers.counts.assign(size, count);
  if (collective.isExchange() && rank == 1) numbers.in_counts[0] = kTooLong;
  arguments.in_types.assign(size, MPI_INT);
  arguments.types.assign(size, MPI_INT);
  for (int i = 0; i < size; ++i)
    numbers.displacements.push_back((collective.each_type ? 4 : 1) * kTooLong * i);
  numbers.in_displacements = numbers.displacements;
  return collective.call(mpi_calls::Form::kBlocking, arguments, nullptr);
}

/// A gather that the root's error handler leaves.
void leave([[maybe_unused]] int in_count) {
#ifndef RETURNS
  leaves = 1;
  if (setjmp(back) == 0) call("Gatherv", in_count, kRoom);
  leaves = 0;
#endif
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Request request;
  MPI_Comm apart;
  int one = 1, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &apart);
  // Under way on all ranks but the last while they make the others.
  const auto start = [&] { MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, apart, &request); };
  if (rank < size - 1) start();
  const int many = rank == 1 ? kTooLong : kRoom, few = rank == 1 ? kRoom : kTooLong;
  const int of_root = rank == 0 ? kTooLong : kRoom;
  const struct {
    const char* stem;
    int in_count, count;
  } rows[] = {
      {"Gatherv", many, kRoom},     {"Gather", many, kRoom},       {"Scatterv", kTooLong, few},
      {"Scatter", kTooLong, few},   {"Alltoallv", kRoom, kRoom},   {"Alltoallw", kRoom, kRoom},
      {"Bcast", of_root, of_root},  {"Reduce", many, many},        {"Scan", of_root, of_root},
      {"Exscan", of_root, of_root}, {"Gatherv, left", many, kRoom}};
  for (const auto& row : rows) {
    // Each on a communicator of its own, as what is left of it may disturb others.
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    count_errors(own);
    const bool is_left = &row == std::end(rows) - 1;
    if (is_left) leave(many);
    told(row.stem, is_left ? MPI_SUCCESS : call(row.stem, row.in_count, row.count));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&own);
  }
  if (rank == size - 1) start();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  line("sum %d\n", sum);
  print_lines();
  MPI_Comm_free(&apart);
  return MPI_Finalize();
}
