// The program's MPI_COMM_WORLD.
#include "runtime/dedicated/program_world.h"

namespace torc::runtime::dedicated {
namespace {

int ranks_apart = 0;

}  // namespace

void setProgramWorld(MPI_Comm world) {
  program_world = world;
  ranks_apart = 0;
  if (world == MPI_COMM_NULL) return;
  int all = 1, own = 1;
  PMPI_Comm_size(MPI_COMM_WORLD, &all);
  PMPI_Comm_size(world, &own);
  ranks_apart = all - own;
  PMPI_Comm_set_name(world, "MPI_COMM_WORLD");
}

int ranksApart() {
  return ranks_apart;
}

}  // namespace torc::runtime::dedicated
