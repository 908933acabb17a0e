// Collectives of MPI that give the core away while they wait: MPICH's own waits spin, which costs
// tens of milliseconds where ranks outnumber cores.
#ifndef TORC_RUNTIME_RUN_WORLD_YIELDING_COLLECTIVES_H_
#define TORC_RUNTIME_RUN_WORLD_YIELDING_COLLECTIVES_H_

#include <mpi.h>

namespace torc::runtime {

void barrier(MPI_Comm comm);
/// In place.
void allreduce(void* data, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
void broadcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_WORLD_YIELDING_COLLECTIVES_H_
