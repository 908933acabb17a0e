// The program's MPI_COMM_WORLD: MPI's own, or with dedicated ranks the communicator of the other
// ranks.
#ifndef TORC_RUNTIME_DEDICATED_PROGRAM_WORLD_H_
#define TORC_RUNTIME_DEDICATED_PROGRAM_WORLD_H_

#include <mpi.h>

namespace torc::runtime::dedicated {

/// MPI_COMM_NULL: MPI's own. Set in MPI_Init and MPI_Finalize only.
inline MPI_Comm program_world = MPI_COMM_NULL;

/// The communicator that a handle of the program denotes.
inline MPI_Comm actual(MPI_Comm comm) {
  return program_world != MPI_COMM_NULL && comm == MPI_COMM_WORLD ? program_world : comm;
}

}  // namespace torc::runtime::dedicated

#endif  // TORC_RUNTIME_DEDICATED_PROGRAM_WORLD_H_
