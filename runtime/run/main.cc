// The program torc-run.
#include <cstdio>
#include <new>
#include <stdexcept>

#include <mpi.h>

#include "runtime/run/torc_run.h"

int main(int argc, char** argv) {
  if (MPI_Init(&argc, &argv) != MPI_SUCCESS) return 1;
  int code = 1;
  const auto endOutOfMemory = [] {  // on some ranks, perhaps: the others would wait for ever
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::fprintf(stderr, "torc-run: rank %d: out of memory; try smaller --bytes\n", rank);
    MPI_Abort(MPI_COMM_WORLD, 1);
  };
  try {
    code = torc::runtime::runTorcRun(argc, argv);
  } catch (const std::bad_alloc&) {
    endOutOfMemory();
  } catch (const std::length_error&) {  // a table larger than any memory
    endOutOfMemory();
  }
  MPI_Finalize();
  return code;
}
