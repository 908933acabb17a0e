/* Long calls in the order of their lengths, for which one rank has not the memory that a schedule
 * takes, and has it again: they are right, with torc as without it. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "told.h"

enum { kLeft = 4 << 20, kMost = 8 << 20 }; /* bytes that are left; numbers of a rank */

static int rank, ranks;
static int *in, *out;

/* Bytes of the process's addresses. */
static long address_space(void) {
  long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld", &pages) != 1) abort();
  fclose(file);
  return pages * 4096;
}

static void limit(int on) {
  struct rlimit now;
  getrlimit(RLIMIT_AS, &now);
  now.rlim_cur = on && rank == 1 ? (rlim_t)(address_space() + kLeft) : now.rlim_max;
  setrlimit(RLIMIT_AS, &now);
}

static void fill(int count) {
  for (int i = 0; i < count; ++i)
    in[i] = rank * 1000 + i % 997, out[i] = -1;
}

/* Block b of rank r's result is block r of rank b's contribution. */
static void check_exchange(const char* what, int block) {
  int wrong = 0;
  for (int b = 0; b < ranks; ++b)
    for (int i = 0; i < block; ++i)
      wrong += out[b * block + i] != b * 1000 + (rank * block + i) % 997;
  line("%s of %d: %d wrong\n", what, block, wrong);
}

static void exchange(int block, int persistent) {
  MPI_Request request;
  fill(block * ranks);
  MPI_Alltoall(in, block, MPI_INT, out, block, MPI_INT, MPI_COMM_WORLD);
  check_exchange("MPI_Alltoall", block);
  fill(block * ranks);
  MPI_Ialltoall(in, block, MPI_INT, out, block, MPI_INT, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check_exchange("MPI_Ialltoall", block);
  (void)persistent;
#if MPI_VERSION >= 4
  if (!persistent) return;
  MPI_Alltoall_init(in, block, MPI_INT, out, block, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  fill(block * ranks);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check_exchange("MPI_Alltoall_init", block);
  MPI_Request_free(&request);
#endif
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  in = malloc(kMost * sizeof(int)), out = malloc(kMost * sizeof(int));
  const int most = kMost / ranks;
  exchange(most / 64, 1);
  fill(kMost);
  limit(1);
  exchange(most / 2, 1);
  exchange(most, 0);
  limit(0);
  exchange(most, 1);
  print_lines();
  free(in), free(out);
  MPI_Finalize();
  return 0;
}
