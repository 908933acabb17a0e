/* Makes N communicators of a kind, all alive at once, and makes a call on each; now and then on
 * older ones, too. Then uses the last one 500 times, and the first. Arguments: KIND N [threads].
 *   dup, idup, split, cart    of MPI_COMM_WORLD; split: with several orders and members
 *   chain                       each a duplicate of the one before
 *   row                         duplicates of the communicator of a half
 *   mixed                       the first 40 of the ranks in another order, then of MPI_COMM_WORLD
 *   inter                       between the halves */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

static int rank, size, wrong;

static MPI_Comm make(const char* kind, int number, MPI_Comm last, MPI_Comm half) {
  const int leads = rank < size / 2, periodic = 1;
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Request request;
  if (strcmp(kind, "dup") == 0) MPI_Comm_dup(MPI_COMM_WORLD, &made);
  if (strcmp(kind, "mixed") == 0) {
    MPI_Comm_split(MPI_COMM_WORLD, 0, number < 40 ? -rank : rank, &made);
  }
  if (strcmp(kind, "chain") == 0) MPI_Comm_dup(last, &made);
  if (strcmp(kind, "row") == 0) MPI_Comm_dup(half, &made);
  if (strcmp(kind, "cart") == 0) MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &made);
  if (strcmp(kind, "idup") == 0) {
    MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (strcmp(kind, "split") == 0) {
    MPI_Comm_split(MPI_COMM_WORLD, number % 3 == 0 ? 0 : leads, number % 2 == 0 ? rank : -rank,
                   &made);
  }
  if (strcmp(kind, "inter") == 0) {
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, leads ? size / 2 : 0, 7, &made);
  }
  return made;
}

static void use(MPI_Comm comm) {
  int inter = 0, wanted = 0, sum = 0;
  const int one = 1;
  MPI_Comm_test_inter(comm, &inter);
  if (inter) {
    MPI_Comm_remote_size(comm, &wanted);
  } else {
    MPI_Comm_size(comm, &wanted);
  }
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  wrong += sum != wanted;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int count = atoi(argv[2]);
  int level, i, all = 0;
  MPI_Comm half, *comms = malloc(count * sizeof(MPI_Comm));
  MPI_Init_thread(&argc, &argv, argc > 3 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
#ifdef TEST_NONBLOCKING
  MPI_Request barrier;
  MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
  MPI_Wait(&barrier, MPI_STATUS_IGNORE);
#endif
  MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2, rank, &half);
  for (i = 0; i < count; ++i) {
    comms[i] = make(argv[1], i, i == 0 ? MPI_COMM_WORLD : comms[i - 1], half);
    use(comms[i]);
    if (i % 40 == 0) use(comms[i / 2]);
  }
  for (i = 0; i < 500; ++i)
    use(comms[count - 1]);
  for (i = 0; i < 300; ++i)
    use(comms[0]);
  for (i = 0; i < count; ++i)
    MPI_Comm_free(comms + i);
  MPI_Comm_free(&half);
  use(MPI_COMM_WORLD);
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%s: %d communicators, %d wrong\n", argv[1], count, all);
  MPI_Finalize();
  free(comms);
  return 0;
}
