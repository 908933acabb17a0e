// Wrappers of MPI_Init, MPI_Init_thread and MPI_Finalize. Programs that use MPI by sessions alone
// never come here, and torc stays off.
#include "runtime/pmpi/job/job.h"

#include <utility>

#include <mpi.h>

#include "runtime/pmpi/job/unseen_start.h"
#include "runtime/pmpi/wrappers/layers.h"

using torc::pmpi::endJob;
using torc::pmpi::leaveToLateOtherMpi;
using torc::pmpi::noteStart;
using torc::pmpi::startJob;
using torc::pmpi::wantsProgressThread;

namespace {

bool has_ended = false;

void end() {
  if (std::exchange(has_ended, true)) return;
  endJob();
}

int endWithSelf(MPI_Comm, int, void*, void*) {
  end();
  return MPI_SUCCESS;
}

/// MPI has just been initialised.
int start(int code) {
  if (code != MPI_SUCCESS) return code;
  startJob();
  // A program may find MPI's own MPI_Finalize by dlsym, which begins with the attributes of
  // MPI_COMM_SELF.
  int keyval = MPI_KEYVAL_INVALID;
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &endWithSelf, &keyval, nullptr);
  PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, nullptr);
  PMPI_Comm_free_keyval(&keyval);
  return code;
}

}  // namespace

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  if (void* others = leaveToLateOtherMpi("MPI_Init")) {
    return reinterpret_cast<decltype(&MPI_Init)>(others)(argc, argv);
  }
  noteStart();
  int provided = MPI_THREAD_SINGLE;
  return start(wantsProgressThread() ? PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided)
                                     : PMPI_Init(argc, argv));
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  if (void* others = leaveToLateOtherMpi("MPI_Init_thread")) {
    return reinterpret_cast<decltype(&MPI_Init_thread)>(others)(argc, argv, required, provided);
  }
  noteStart();
  const int level = wantsProgressThread() ? MPI_THREAD_MULTIPLE : required;
  return start(PMPI_Init_thread(argc, argv, level, provided));
}

int MPI_Finalize() {
  end();
  return PMPI_Finalize();
}

}  // extern "C"
