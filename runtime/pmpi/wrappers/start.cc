// Wrappers for persistent requests: torc's requests and those of dedicated ranks need both their
// handle and their operation started and freed.
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

}  // extern "C"

}  // namespace torc::runtime::pmpi
