// Collectives of torc-run's own that give the core away while they wait: MPICH's waits spin, which
// costs tens of milliseconds where other work is on the cores.
#ifndef TORC_RUNTIME_RUN_YIELDING_H_
#define TORC_RUNTIME_RUN_YIELDING_H_

#include <mpi.h>

namespace torc {

void yieldingBarrier(MPI_Comm comm);
/// In place.
void yieldingAllreduce(void* data, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
void yieldingBroadcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm);

}  // namespace torc

#endif  // TORC_RUNTIME_RUN_YIELDING_H_
