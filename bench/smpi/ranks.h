// Ranks: the size of a communicator, and the rank of this process.
#ifndef TORC_BENCH_SMPI_RANKS_H_
#define TORC_BENCH_SMPI_RANKS_H_

#include <mpi.h>

namespace torc {

inline int sizeOf(MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  return size;
}

inline int rankOf(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

}  // namespace torc

#endif  // TORC_BENCH_SMPI_RANKS_H_
