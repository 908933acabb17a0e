// Wrappers for programs that `use mpi_f08`.
//
// MPICH's functions for mpif.h and `use mpi` call the C functions by their MPI_ names, and so come
// by the other wrappers; so do those of mpi_f08 that have data buffers. But those of mpi_f08
// without buffers call PMPI_ functions (MPICH 4.0.2). Here are the ones that torc must know of.
// Handles of mpi_f08 are structures of one integer, which in MPICH is the C handle. `ierror` may be
// absent.
#include <dlfcn.h>

#include <mpi.h>

#include "runtime/pmpi/job/progress.h"

using torc::pmpi::advance;
using torc::pmpi::mustProgress;
using torc::pmpi::progressUntil;

namespace {

void set(int* ierror, int code) {
  if (ierror != nullptr) *ierror = code;
}

/// MPICH's own function of that name. There is one: the program has called it.
template <typename Function>
Function* next(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// Waits, with progress, until `enough` of the requests are complete; then MPI's own function finds
/// that without waiting.
enum class Enough { kAll, kOne };
void progressUntilComplete(int count, const MPI_Request requests[], Enough enough) {
  if (!mustProgress()) return;
  progressUntil([&] {
    for (int i = 0; i < count; ++i) {
      int done = 0;
      const int code = PMPI_Request_get_status(requests[i], &done, MPI_STATUS_IGNORE);
      const bool over = done || code != MPI_SUCCESS;
      if (over != (enough == Enough::kAll)) return over;
    }
    return enough == Enough::kAll || count == 0;
  });
}

}  // namespace

#define TORC_NEXT(name) next(&name, #name)

extern "C" {

// ---- The job

void mpi_init_f08_(int* ierror) {
  set(ierror, MPI_Init(nullptr, nullptr));
}

void mpi_init_thread_f08_(const int* required, int* provided, int* ierror) {
  set(ierror, MPI_Init_thread(nullptr, nullptr, *required, provided));
}

void mpi_finalize_f08_(int* ierror) {
  set(ierror, MPI_Finalize());
}

// ---- Communicators. Others that mpi_f08 makes are set up by the first blocking call on them.

void mpi_comm_dup_f08_(const MPI_Comm* comm, MPI_Comm* result, int* ierror) {
  set(ierror, MPI_Comm_dup(*comm, result));
}

void mpi_comm_split_f08_(const MPI_Comm* comm, const int* color, const int* key, MPI_Comm* result,
                         int* ierror) {
  set(ierror, MPI_Comm_split(*comm, *color, *key, result));
}

void mpi_comm_create_f08_(const MPI_Comm* comm, const MPI_Group* group, MPI_Comm* result,
                          int* ierror) {
  set(ierror, MPI_Comm_create(*comm, *group, result));
}

void mpi_comm_free_f08_(MPI_Comm* comm, int* ierror) {
  set(ierror, MPI_Comm_free(comm));
}

void mpi_comm_disconnect_f08_(MPI_Comm* comm, int* ierror) {
  set(ierror, MPI_Comm_disconnect(comm));
}

void mpi_barrier_f08_(const MPI_Comm* comm, int* ierror) {
  set(ierror, MPI_Barrier(*comm));
}

// ---- Handles

void mpi_start_f08_(MPI_Request* request, int* ierror) {
  set(ierror, MPI_Start(request));
}

void mpi_startall_f08_(const int* count, MPI_Request requests[], int* ierror) {
  set(ierror, MPI_Startall(*count, requests));
}

void mpi_request_free_f08_(MPI_Request* request, int* ierror) {
  set(ierror, MPI_Request_free(request));
}

void mpi_type_free_f08_(MPI_Datatype* type, int* ierror) {
  set(ierror, MPI_Type_free(type));
}

void mpi_op_free_f08_(MPI_Op* op, int* ierror) {
  set(ierror, MPI_Op_free(op));
}

// ---- Completion. Statuses and indices have forms of their own, which are left to MPICH.

void mpi_wait_f08_(MPI_Request* request, void* status, int* ierror) {
  static auto* const real = TORC_NEXT(mpi_wait_f08_);
  progressUntilComplete(1, request, Enough::kAll);
  real(request, status, ierror);
}

void mpi_waitall_f08_(const int* count, MPI_Request requests[], void* statuses, int* ierror) {
  static auto* const real = TORC_NEXT(mpi_waitall_f08_);
  progressUntilComplete(*count, requests, Enough::kAll);
  real(count, requests, statuses, ierror);
}

void mpi_waitany_f08_(const int* count, MPI_Request requests[], int* index, void* status,
                      int* ierror) {
  static auto* const real = TORC_NEXT(mpi_waitany_f08_);
  progressUntilComplete(*count, requests, Enough::kOne);
  real(count, requests, index, status, ierror);
}

void mpi_waitsome_f08_(const int* count, MPI_Request requests[], int* completed, int indices[],
                       void* statuses, int* ierror) {
  static auto* const real = TORC_NEXT(mpi_waitsome_f08_);
  progressUntilComplete(*count, requests, Enough::kOne);
  real(count, requests, completed, indices, statuses, ierror);
}

void mpi_test_f08_(MPI_Request* request, int* flag, void* status, int* ierror) {
  static auto* const real = TORC_NEXT(mpi_test_f08_);
  if (mustProgress()) advance();
  real(request, flag, status, ierror);
}

void mpi_testall_f08_(const int* count, MPI_Request requests[], int* flag, void* statuses,
                      int* ierror) {
  static auto* const real = TORC_NEXT(mpi_testall_f08_);
  if (mustProgress()) advance();
  real(count, requests, flag, statuses, ierror);
}

void mpi_testany_f08_(const int* count, MPI_Request requests[], int* index, int* flag, void* status,
                      int* ierror) {
  static auto* const real = TORC_NEXT(mpi_testany_f08_);
  if (mustProgress()) advance();
  real(count, requests, index, flag, status, ierror);
}

void mpi_testsome_f08_(const int* count, MPI_Request requests[], int* completed, int indices[],
                       void* statuses, int* ierror) {
  static auto* const real = TORC_NEXT(mpi_testsome_f08_);
  if (mustProgress()) advance();
  real(count, requests, completed, indices, statuses, ierror);
}

}  // extern "C"
