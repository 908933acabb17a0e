/* Two collectives are started, and are under way while the program waits inside MPI, in
 * MPI_Win_fence: surely so, as rank 0 comes there first and starts them last. Rank 0 prints what
 * the sums are. With an argument, MPI is initialised with MPI_THREAD_MULTIPLE, and nothing is under
 * way. */
#include <stdio.h>

#include <mpi.h>

static double in[1000], first[1000], second[1000];

static void start(MPI_Request requests[]) {
  MPI_Iallreduce(in, first, 1000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
  MPI_Iallreduce(in, second, 10, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &requests[1]);
}

int main(int argc, char** argv) {
  MPI_Request requests[2];
  MPI_Win window;
  double* memory;
  int rank, size, level;
  if (argc > 1) {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  } else {
    MPI_Init(&argc, &argv);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 1000; ++i)
    in[i] = rank + i;
  MPI_Allreduce(in, first, 1000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(in, second, 10, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);

  MPI_Win_allocate(sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_fence(0, window);
  MPI_Put(&in[0], 1, MPI_DOUBLE, (rank + 1) % size, 0, 1, MPI_DOUBLE, window);
  if (rank > 0 && argc == 1) start(requests);
  MPI_Win_fence(0, window);
  if (rank == 0 || argc > 1) start(requests);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  /* What was put is not looked at: MPICH 4.0.2 over UCX loses it now and then, without torc too. */
  if (rank == 0) printf("%.0f %.0f\n", first[999], second[9]);
  MPI_Win_free(&window);
  return MPI_Finalize();
}
