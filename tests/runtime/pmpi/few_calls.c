/* A few calls of a program that knows nothing of torc: on all ranks, on rows of three, on all but the
 * last rank. Rank 0 prints what the sums are. With `before FOLDER` the program changes to another folder
 * before MPI_Init, with `after FOLDER` behind it. */
#include <stdio.h>
#include <unistd.h>

#include <mpi.h>

int main(int argc, char** argv) {
  static double in[1000], out[3000];
  MPI_Comm row, most;
  int rank;
  double sum = 0;
  if (argc > 2 && argv[1][0] == 'b' && chdir(argv[2]) != 0) return 3;
  MPI_Init(&argc, &argv);
  if (argc > 2 && argv[1][0] == 'a' && chdir(argv[2]) != 0) return 3;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank / 3, rank, &row);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 5, rank, &most);
  for (int i = 0; i < 1000; ++i)
    in[i] = rank + i;

  for (int i = 0; i < 3; ++i) {
    MPI_Allreduce(in, out, 1000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    sum += out[999];
  }
  MPI_Allgather(in, 100, MPI_DOUBLE, out, 100, MPI_DOUBLE, row);
  sum += out[299];
  MPI_Allreduce(in, out, 10, MPI_DOUBLE, MPI_SUM, most);
  sum += out[9];
  MPI_Bcast(out, 10, MPI_DOUBLE, 0, row);
  if (rank == 0) printf("%.0f\n", sum);
  MPI_Comm_free(&row);
  MPI_Comm_free(&most);
  return MPI_Finalize();
}
