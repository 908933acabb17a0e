// A function of a program that makes an error handler, which nobody calls: torc finds it among what
// the program imports, and starts no thread.
#include <mpi.h>

extern "C" void makeHandler(MPI_Comm_errhandler_function* function) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(function, &handler);
}
