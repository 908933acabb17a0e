/* checked_calls SECONDS FOLDER: collectives of many sizes, each compared with
 * what it must give, until the time is over on rank 0. Every rank leaves its process number in
 * FOLDER/RANK. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <mpi.h>

/* Without data a call is MPI's, which waits for ranks that are gone. */
enum { kLeast = 4, kMost = 300000 };
static int rank, size;
static int in[kLeast + kMost], out[kLeast + kMost];

static void check(int is_right, const char* what, int count) {
  if (is_right) return;
  printf("rank %d: %s of %d is wrong\n", rank, what, count);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void makeCalls(int count) {
  int block = count / size, seed = count % 1000;
  for (int i = 0; i < count; ++i)
    in[i] = rank + i + seed;
  MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < count; i += 1 + count / 50)
    check(out[i] == size * (i + seed) + size * (size - 1) / 2, "allreduce", count);
  MPI_Alltoall(in, block, MPI_INT, out, block, MPI_INT, MPI_COMM_WORLD);
  for (int from = 0; from < size && block > 0; ++from)
    check(out[from * block] == from + rank * block + seed, "alltoall", count);
  if (rank == 0)
    for (int i = 0; i < count; ++i)
      in[i] = 7 * i + seed;
  MPI_Bcast(in, count, MPI_INT, 0, MPI_COMM_WORLD);
  if (count > 0) check(in[count - 1] == 7 * (count - 1) + seed, "bcast", count);
  for (int i = 0; i < block; ++i)
    in[i] = 1000 * rank + i;
  MPI_Gather(in, block, MPI_INT, out, block, MPI_INT, size - 1, MPI_COMM_WORLD);
  for (int from = 0; from < size && block > 0 && rank == size - 1; ++from)
    check(out[from * block + block - 1] == 1000 * from + block - 1, "gather", count);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char name[4096];
  snprintf(name, sizeof(name), "%s/%d", argv[2], rank);
  FILE* file = fopen(name, "w");
  fprintf(file, "%d\n", (int)getpid());
  fclose(file);
  time_t end = time(NULL) + atoi(argv[1]);
  int goes_on = 1;
  for (unsigned call = 0; goes_on; ++call) {
    /* Short ones more often. */
    unsigned hash = call * 2654435761u >> 8;
    makeCalls((int)(kLeast + hash % (kMost >> hash % 17)));
    if (call % 50 != 49) continue;
    goes_on = time(NULL) < end;
    MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("right\n");
  return MPI_Finalize();
}
