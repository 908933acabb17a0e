/* Blocking collectives whose ranks differ in their counts, while a nonblocking one is under way: what
 * each reports on each rank. */
#include <stdlib.h>

#include "told.h"

enum { kTooLong = 8, kRoom = 4, kMost = 16 };

static MPI_Comm own;
static int rank, size;
static int in[kMost * kTooLong], out[kMost * kTooLong];

/* Lists of `count` for each rank. */
static int counts[kMost], places[kMost], other_counts[kMost], bytes[kMost];
static MPI_Datatype types[kMost];
static void list(int* counts_of, int count) {
  for (int i = 0; i < size; ++i)
    counts_of[i] = count, places[i] = kTooLong * i, bytes[i] = 4 * kTooLong * i, types[i] = MPI_INT;
}

/* Each on a communicator of its own, as what is left of it may disturb others. */
static void begin(void) {
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  count_errors(own);
}

static void end(const char* what, int code) {
  told(what, code);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&own);
}

/* A nonblocking collective on a communicator of its own, which is under way on all ranks but the
 * last while they make the others. */
static MPI_Comm apart;
static int one = 1, sum;
static void start(MPI_Request* request) {
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, apart, request);
}

int main(int argc, char** argv) {
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &apart);
  if (rank < size - 1) start(&request);
  const int own_count = rank == 1 ? kTooLong : kRoom;
  list(counts, kRoom);

  begin();
  end("Gatherv", MPI_Gatherv(in, own_count, MPI_INT, out, counts, places, MPI_INT, 0, own));
  begin();
  end("Gather", MPI_Gather(in, own_count, MPI_INT, out, kRoom, MPI_INT, 0, own));
  begin();
  list(counts, kTooLong);
  end("Scatterv", MPI_Scatterv(in, counts, places, MPI_INT, out, rank == 1 ? kRoom : kTooLong,
                               MPI_INT, 0, own));
  begin();
  end("Scatter", MPI_Scatter(in, kTooLong, MPI_INT, out, rank == 1 ? kRoom : kTooLong, MPI_INT, 0,
                             own));
  begin();
  list(counts, kRoom);
  list(other_counts, kRoom);
  if (rank == 1) counts[0] = kTooLong;
  end("Alltoallv", MPI_Alltoallv(in, counts, places, MPI_INT, out, other_counts, places, MPI_INT,
                                 own));
  begin();
  end("Alltoallw", MPI_Alltoallw(in, counts, bytes, types, out, other_counts, bytes, types, own));
  begin();
  end("Bcast", MPI_Bcast(in, rank == 0 ? kTooLong : kRoom, MPI_INT, 0, own));
  begin();
  end("Reduce", MPI_Reduce(in, out, own_count, MPI_INT, MPI_SUM, 0, own));
  begin();
  end("Scan", MPI_Scan(in, out, rank == 0 ? kTooLong : kRoom, MPI_INT, MPI_SUM, own));
  begin();
  end("Exscan", MPI_Exscan(in, out, rank == 0 ? kTooLong : kRoom, MPI_INT, MPI_SUM, own));
#ifndef RETURNS
  begin();
  leaves = 1;
  list(counts, kRoom);
  if (setjmp(back) == 0) {
    MPI_Gatherv(in, own_count, MPI_INT, out, counts, places, MPI_INT, 0, own);
  }
  leaves = 0;
  end("Gatherv, left on the root", MPI_SUCCESS);
#endif
  if (rank == size - 1) start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  line("sum %d\n", sum);
  print_lines();
  MPI_Comm_free(&apart);
  return MPI_Finalize();
}
