// A job for the fault tests: calls on all ranks and on the rows of a grid, checked byte by byte.
//
//   faulty_job GRID [REMOVED]
//
// REMOVED: a folder that rank 0 removes between MPI_Init and the first call.
//
// On the rank that WITHOUT_SELF names MPI can make no duplicate of MPI_COMM_SELF.

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <vector>

#include <mpi.h>

#include "tests/runtime/pmpi/mpi_calls/call.h"
#include "tests/runtime/pmpi/mpi_calls/checks.h"

extern "C" int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm* result) {
  static const auto next =
      reinterpret_cast<decltype(&PMPI_Comm_dup)>(dlsym(RTLD_NEXT, "PMPI_Comm_dup"));
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* without = std::getenv("WITHOUT_SELF");
  const bool fails = comm == MPI_COMM_SELF && without != nullptr && std::atoi(without) == rank;
  return fails ? MPI_ERR_NO_MEM : next(comm, result);
}

namespace mpi_calls {
namespace {

int run(int argc, char** argv) {
  const Grid grid = parseGrid(argv[1]);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 2 && rank == 0)
    check(std::filesystem::remove_all(argv[2]) > 0, "there is something to remove");
  MPI_Barrier(MPI_COMM_WORLD);

  std::vector<Communicator> all = {{"MPI_COMM_WORLD", MPI_COMM_WORLD, true}, {"row"}};
  MPI_Comm_split(MPI_COMM_WORLD, rank / grid[0], rank, &all[1].handle);
  for (int round = 0; round < 3; ++round) {
    for (const Communicator& communicator : all) {
      for (int i = 0; i < kCollectiveCount; ++i) {
        // MPICH 4.0.2's own persistent calls are right when they are started once.
        for (const Form form : kForms)
          Call(simpleShape(collectives()[i], form, 100), communicator).run();
      }
    }
  }
  MPI_Comm_free(&all[1].handle);
  return summarize("faulty_job");
}

}  // namespace
}  // namespace mpi_calls

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  MPI_Init(&argc, &argv);
  const int status = mpi_calls::run(argc, argv);
  MPI_Finalize();
  return status;
}
