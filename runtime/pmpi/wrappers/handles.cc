// Wrappers of functions that start and free handles.
//
// Of a persistent request of torc or of dedicated ranks both the handle and its operation are
// started and freed. MPI allows a program to free a datatype or a reduction's operation while
// active or persistent calls use it. MPI keeps it for its own calls; for torc's calls it is freed
// after the last of them.
#include <mpi.h>

#include "runtime/pmpi/dedicated/offload.h"
#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/engine/operation.h"
#include "runtime/pmpi/process/progress.h"

namespace torc::runtime::pmpi {
namespace {

/// Whether none of the requests can belong to torc: then no lock is taken.
bool noneIsOurs() {
  return persistent_handles.load(std::memory_order_relaxed) == 0 || inside_torc;
}

/// Starts the operation of a handle that has been started; no-op for a request of the program.
void startBehind(MPI_Request request) {
  if (startOffloaded(request) || engine == nullptr) return;
  EngineLock lock;
  if (Operation* operation = engine->persistentOperation(request); operation != nullptr) {
    operation->startRound();
  }
}

}  // namespace

extern "C" {

int MPI_Start(MPI_Request* request) {
  // The handle first: it must be active when the round ends.
  const int code = PMPI_Start(request);
  if (code != MPI_SUCCESS || noneIsOurs()) return code;
  startBehind(*request);
  return code;
}

int MPI_Startall(int count, MPI_Request requests[]) {
  const int code = PMPI_Startall(count, requests);
  if (code != MPI_SUCCESS || noneIsOurs()) return code;
  for (int i = 0; i < count; ++i)
    startBehind(requests[i]);
  return code;
}

int MPI_Request_free(MPI_Request* request) {
  if (noneIsOurs() || request == nullptr) return PMPI_Request_free(request);
  if (forgetOffloaded(*request)) {
    persistent_handles.fetch_sub(1, std::memory_order_relaxed);
  } else if (engine != nullptr) {
    EngineLock lock;
    if (Operation* operation = engine->persistentOperation(*request); operation != nullptr) {
      operation->freePersistent();
    }
  }
  return PMPI_Request_free(request);
}

int MPI_Type_free(MPI_Datatype* type) {
  if (!intercepts() || type == nullptr) return PMPI_Type_free(type);
  EngineLock lock;
  if (!engine->held_types.keep(*type)) return PMPI_Type_free(type);
  *type = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

int MPI_Op_free(MPI_Op* op) {
  if (!intercepts() || op == nullptr) return PMPI_Op_free(op);
  EngineLock lock;
  if (!engine->held_ops.keep(*op)) return PMPI_Op_free(op);
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}

}  // extern "C"

}  // namespace torc::runtime::pmpi
