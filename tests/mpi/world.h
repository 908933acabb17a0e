// GoogleTest on MPI ranks, each of which runs the same tests: what links this has MPI_Init before
// the first test and MPI_Finalize behind the last one. Rank 0 tells of progress, every rank of
// failures. A test that hangs ends the job, with its name, and tools/mpi_test.sh goes on behind it;
// a test that leaves a message on the way fails.
#ifndef TORC_TESTS_MPI_WORLD_H_
#define TORC_TESTS_MPI_WORLD_H_

namespace torc {

/// Of MPI_COMM_WORLD.
int worldRank();
int worldSize();

/// Waits for all ranks, and leaves the cores to those that still work.
void sleepUntilAllCome();

}  // namespace torc

#endif  // TORC_TESTS_MPI_WORLD_H_
