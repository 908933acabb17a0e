/* finding_program LIBRARY all|calls|end: a program that finds functions of MPI in MPI's own library,
 * as interpreters do: all of them; a collective; MPI_Finalize. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void* library;

#define FOUND(Name) ((__typeof__(&MPI_##Name))dlsym(library, "MPI_" #Name))

int main(int count, char** arguments) {
  library = dlopen(arguments[1], RTLD_NOW);
  const int all = strcmp(arguments[2], "all") == 0, end = all || strcmp(arguments[2], "end") == 0;
  const int calls = all || strcmp(arguments[2], "calls") == 0;
  int ranks = 0, one = 1, sum = 0;
  MPI_Request request;
  (all ? FOUND(Init) : MPI_Init)(&count, &arguments);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < 5; ++i) {
    (calls ? FOUND(Allreduce) : MPI_Allreduce)(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != ranks) return 1;
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (sum != ranks) return 1;
  }
  return (end ? FOUND(Finalize) : MPI_Finalize)();
}
