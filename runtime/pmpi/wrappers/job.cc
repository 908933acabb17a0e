// Wrappers of MPI_Init, MPI_Init_thread and MPI_Finalize. Programs that use MPI by sessions alone
// never come here, and torc stays off.
#include "runtime/pmpi/job/job.h"

#include <mpi.h>

#include "runtime/pmpi/job/unseen_start.h"

using torc::pmpi::endJob;
using torc::pmpi::noteStart;
using torc::pmpi::startJob;
using torc::pmpi::wantsProgressThread;

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  noteStart();
  int provided = MPI_THREAD_SINGLE;
  const int code = wantsProgressThread()
                       ? PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided)
                       : PMPI_Init(argc, argv);
  if (code == MPI_SUCCESS) startJob();
  return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  noteStart();
  const int level = wantsProgressThread() ? MPI_THREAD_MULTIPLE : required;
  const int code = PMPI_Init_thread(argc, argv, level, provided);
  if (code == MPI_SUCCESS) startJob();
  return code;
}

int MPI_Finalize() {
  endJob();
  return PMPI_Finalize();
}

}  // extern "C"
