/* Collectives on dedicated ranks (TORC_DEDICATED), by the names of Sancho et al., "Efficient
 * Offloading of Collective Communications in Large-Scale Systems", Section IV.B. The functions are
 * in libtorc_pmpi. Programs that call MPI_Iallreduce and MPI_Wait do not need them.
 *
 * Fortran: call DCP_ALLREDUCE(in, out, count, type, op, comm, request, ierror)
 *          call DCP_WAIT(request, status, ierror) */
#ifndef TORC_RUNTIME_API_TORC_DEDICATED_H_
#define TORC_RUNTIME_API_TORC_DEDICATED_H_

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Starts an allreduce of `count` elements; arguments, results and errors as in MPI_Iallreduce. */
int DCP_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                  MPI_Request* request);

/* Waits for its completion; the same as MPI_Wait. */
int DCP_Wait(MPI_Request* request, MPI_Status* status);

#ifdef __cplusplus
}
#endif

#endif /* TORC_RUNTIME_API_TORC_DEDICATED_H_ */
