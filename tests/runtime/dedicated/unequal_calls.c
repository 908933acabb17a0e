/* Calls that go together, with `alike`; that do not, with `unequal`; `abort` ends the job;
   `forever` goes on until somebody else does. */
#include <stdio.h>
#include <string.h>

#include <mpi.h>

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double in[2] = {1, 1}, out[2] = {0, 0};
  const char* how = count > 1 ? arguments[1] : "alike";
  if (strcmp(how, "abort") == 0 && rank == 0) MPI_Abort(MPI_COMM_WORLD, 3);
  const int elements = strcmp(how, "unequal") == 0 && rank == 1 ? 2 : 1;
  MPI_Allreduce(in, out, elements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks, sum %g\n", size, out[0]);
  fflush(stdout);
  while (strcmp(how, "forever") == 0) {
    MPI_Allreduce(in, out, elements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
