// The functions of Sancho et al., Section IV.B: a collective that dedicated ranks complete, and the
// wait for it. They equal MPI_Iallreduce and MPI_Wait, also without dedicated ranks or for calls
// that these do not support.
#include <dlfcn.h>

#include "runtime/api/torc_dedicated.h"

namespace torc::runtime::pmpi {

extern "C" {

int DCP_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                  MPI_Request* request) {
  return MPI_Iallreduce(in, out, count, type, op, comm, request);
}

int DCP_Wait(MPI_Request* request, MPI_Status* status) {
  return MPI_Wait(request, status);
}

// Fortran functions: MPI's Fortran library, which a Fortran program has loaded, converts
// MPI_IN_PLACE and statuses.

void dcp_allreduce_(void* in, void* out, const MPI_Fint* count, const MPI_Fint* type,
                    const MPI_Fint* op, const MPI_Fint* comm, MPI_Fint* request, MPI_Fint* error) {
  using Function = void(void*, void*, const MPI_Fint*, const MPI_Fint*, const MPI_Fint*,
                        const MPI_Fint*, MPI_Fint*, MPI_Fint*);
  static auto* const call = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, "mpi_iallreduce_"));
  call(in, out, count, type, op, comm, request, error);
}

void dcp_wait_(MPI_Fint* request, MPI_Fint* status, MPI_Fint* error) {
  using Function = void(MPI_Fint*, MPI_Fint*, MPI_Fint*);
  static auto* const call = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, "mpi_wait_"));
  call(request, status, error);
}

}  // extern "C"

}  // namespace torc::runtime::pmpi
