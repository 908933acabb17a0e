// The symbols of nonblocking or persistent functions of collectives that torc serves.
#include "runtime/pmpi/process/pending_calls.h"

#include <gtest/gtest.h>

namespace torc::runtime::pmpi {
namespace {

TEST(PendingCallsTest, NonblockingAndPersistentFormsOfServedCollectives) {
  for (const char* symbol :
       {"MPI_Ibarrier", "MPI_Iallreduce", "PMPI_Iallreduce", "MPI_Iallreduce_c",
        "MPI_Allreduce_init", "MPI_Allreduce_init_c", "MPI_Ireduce_scatter",
        "MPI_Ireduce_scatter_block", "MPI_Ineighbor_alltoallw", "MPI_Iallgatherv",
        "MPI_Allgatherv_init", "mpi_iallreduce_", "mpi_iallreduce__", "MPI_IALLREDUCE",
        "mpi_iallreduce_f08_", "mpi_iallgather_f08ts_", "mpi_allgather_init_"}) {
    EXPECT_TRUE(isNonblockingCollective(symbol)) << symbol;
  }
}

TEST(PendingCallsTest, Others) {
  for (const char* symbol : {"MPI_Allreduce", "mpi_allreduce_", "MPI_Isend", "MPI_Isendrecv",
                             "MPI_Init", "MPI_Init_thread", "MPI_Initialized", "MPI_Send_init",
                             "MPI_Iallred", "Iallreduce", "", "M", "MPI_", "printf"}) {
    EXPECT_FALSE(isNonblockingCollective(symbol)) << symbol;
  }
}

TEST(PendingCallsTest, ThisProgramHasNone) {
  EXPECT_FALSE(importsNonblockingCollectives());
}

}  // namespace
}  // namespace torc::runtime::pmpi
