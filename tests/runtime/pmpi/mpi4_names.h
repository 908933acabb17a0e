// The names of MPI 4 for test programs that are also built with Open MPI 4.1, an MPI 3.1:
// persistent collectives are its extension MPIX_Allreduce_init, and so on. Functions of MPI_Count
// do not exist there: their names can be compiled, and must not be called.
#ifndef TORC_TESTS_RUNTIME_PMPI_MPI4_NAMES_H_
#define TORC_TESTS_RUNTIME_PMPI_MPI4_NAMES_H_

#include <mpi.h>

inline constexpr bool kHasLargeCounts = MPI_VERSION >= 4;

#if MPI_VERSION < 4

#include <cstdlib>

#include <mpi-ext.h>

#define TORC_NAMES(Name, name)                                             \
  inline constexpr auto MPI_##Name##_init = [](auto... arguments) {        \
    return MPIX_##Name##_init(arguments...);                               \
  };                                                                       \
  inline constexpr auto PMPI_##Name##_init = [](auto... arguments) {       \
    return PMPIX_##Name##_init(arguments...);                              \
  };                                                                       \
  inline constexpr auto MPI_##Name##_c = [](auto...) -> int { abort(); };  \
  inline constexpr auto MPI_I##name##_c = [](auto...) -> int { abort(); }; \
  inline constexpr auto MPI_##Name##_init_c = [](auto...) -> int { abort(); };

TORC_NAMES(Barrier, barrier)
TORC_NAMES(Allreduce, allreduce)
TORC_NAMES(Reduce_scatter, reduce_scatter)
TORC_NAMES(Reduce_scatter_block, reduce_scatter_block)
TORC_NAMES(Allgather, allgather)
TORC_NAMES(Allgatherv, allgatherv)
TORC_NAMES(Bcast, bcast)
TORC_NAMES(Reduce, reduce)
TORC_NAMES(Scan, scan)
TORC_NAMES(Exscan, exscan)
TORC_NAMES(Gather, gather)
TORC_NAMES(Gatherv, gatherv)
TORC_NAMES(Scatter, scatter)
TORC_NAMES(Scatterv, scatterv)
TORC_NAMES(Alltoall, alltoall)
TORC_NAMES(Alltoallv, alltoallv)
TORC_NAMES(Alltoallw, alltoallw)
TORC_NAMES(Neighbor_allgather, neighbor_allgather)
TORC_NAMES(Neighbor_allgatherv, neighbor_allgatherv)
TORC_NAMES(Neighbor_alltoall, neighbor_alltoall)
TORC_NAMES(Neighbor_alltoallv, neighbor_alltoallv)
TORC_NAMES(Neighbor_alltoallw, neighbor_alltoallw)

#undef TORC_NAMES

#endif

#endif  // TORC_TESTS_RUNTIME_PMPI_MPI4_NAMES_H_
