// A function of a program that makes an error handler, but is never called: torc finds the import
// in the program, and starts no thread.
#include <mpi.h>

extern "C" void makeHandler(MPI_Comm_errhandler_function* function) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(function, &handler);
}
