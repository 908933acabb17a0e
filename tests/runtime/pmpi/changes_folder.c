/* A program that changes to another folder, FOLDER, `before` MPI_Init or after it, and then makes the
 * first calls of their kinds. Prints `sum N` and `maximum N`. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

int main(int argc, char** argv) {
  int rank = 0, sum = 0, most = 0;
  if (argc < 3) return 2;
  const int before = strcmp(argv[1], "before") == 0;
  if (before && chdir(argv[2]) != 0) return 3;
  MPI_Init(&argc, &argv);
  if (!before && chdir(argv[2]) != 0) return 3;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce(&rank, &most, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("sum %d\nmaximum %d\n", sum, most);
  MPI_Finalize();
  return 0;
}
