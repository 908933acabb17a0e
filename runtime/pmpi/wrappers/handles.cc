// Wrappers of MPI_Type_free and MPI_Op_free. MPI allows a program to free a datatype or an
// operation while active or persistent calls use it. MPI keeps it for its own calls; for torc's
// calls it is freed after the last of them.
#include <mpi.h>

#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/process/progress.h"

namespace torc::runtime::pmpi {
extern "C" {

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
