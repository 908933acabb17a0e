/* Calls that go together, with `alike`; that do not, with `unequal`; `abort` ends the job;
   `forever` goes on until somebody else does; `refused` first makes calls with a datatype that MPI
   refuses. */
#include <stdio.h>
#include <string.h>

#include <mpi.h>

static int told = 0;

static void tell(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
  ++told;
}

/* Each call is an error, of which the communicator's handler is told. */
static void makeRefusedCalls(int rank) {
  int values[4] = {0}, errors = 0;
  MPI_Datatype type;
  MPI_Errhandler handler;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(tell, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Type_contiguous(4, MPI_INT, &type);  /* and it is not committed */
  errors += MPI_Bcast(values, 1, type, 0, comm) != MPI_SUCCESS;
  errors += MPI_Ibcast(values, 1, type, 0, comm, &request) != MPI_SUCCESS;
  MPI_Type_free(&type);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
  if (rank == 0) printf("%d calls refused, %d told\n", errors, told);
}

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double in[2] = {1, 1}, out[2] = {0, 0};
  const char* how = count > 1 ? arguments[1] : "alike";
  if (strcmp(how, "abort") == 0 && rank == 0) MPI_Abort(MPI_COMM_WORLD, 3);
  if (strcmp(how, "refused") == 0) makeRefusedCalls(rank);
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
