// The program's MPI_COMM_WORLD: MPI's own, or, where ranks are dedicated to collectives, the
// communicator of the others.
#ifndef TORC_RUNTIME_DEDICATED_PROGRAM_WORLD_H_
#define TORC_RUNTIME_DEDICATED_PROGRAM_WORLD_H_

#include <mpi.h>

namespace torc::runtime::dedicated {

/// MPI_COMM_NULL: MPI's own. Set in MPI_Init and MPI_Finalize only.
inline MPI_Comm program_world = MPI_COMM_NULL;

/// The communicator that the program means.
inline MPI_Comm actual(MPI_Comm comm) {
  return program_world != MPI_COMM_NULL && comm == MPI_COMM_WORLD ? program_world : comm;
}

/// From now on, or (MPI_COMM_NULL) no longer. The communicator gets the name that a program knows.
void setProgramWorld(MPI_Comm world);

/// Ranks of the job that are not the program's.
int ranksApart();

}  // namespace torc::runtime::dedicated

#endif  // TORC_RUNTIME_DEDICATED_PROGRAM_WORLD_H_
