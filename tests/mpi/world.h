// GoogleTest on MPI ranks, each of which runs the same tests: programs linked with this call
// MPI_Init before the first test and MPI_Finalize after the last one. Rank 0 reports progress,
// every rank reports failures. A test that hangs ends the job, with its name, and tools/mpi_test.sh
// continues after it; a test that leaves a message in transit fails.
#ifndef TORC_TESTS_MPI_WORLD_H_
#define TORC_TESTS_MPI_WORLD_H_

namespace torc {

/// Of MPI_COMM_WORLD.
int worldRank();
int worldSize();

/// Waits for all ranks, without using the cores of those that still work.
void sleepUntilAllCome();

}  // namespace torc

#endif  // TORC_TESTS_MPI_WORLD_H_
