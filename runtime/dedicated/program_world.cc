// The program's MPI_COMM_WORLD.
#include "runtime/dedicated/program_world.h"

#include "runtime/transport/mpi_status.h"

namespace torc::runtime::dedicated {
namespace {

int ranks_apart = 0;

}  // namespace

void setProgramWorld(MPI_Comm world) {
  program_world = world;
  ranks_apart = 0;
  if (world == MPI_COMM_NULL) return;
  ranks_apart = commSize(MPI_COMM_WORLD) - commSize(world);
  PMPI_Comm_set_name(world, "MPI_COMM_WORLD");
}

int ranksApart() {
  return ranks_apart;
}

}  // namespace torc::runtime::dedicated
