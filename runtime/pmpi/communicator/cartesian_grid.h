// Grid: the Cartesian topology of a communicator, where its neighbours are those of the torus that
// its ranks form.
#ifndef TORC_RUNTIME_PMPI_COMMUNICATOR_CARTESIAN_GRID_H_
#define TORC_RUNTIME_PMPI_COMMUNICATOR_CARTESIAN_GRID_H_

#include <cstdint>
#include <optional>

#include <mpi.h>

#include "schedules/topology/topology.h"

namespace torc::runtime::pmpi {

struct Grid {
  int neighbours = 0;         // two along each dimension
  std::uint32_t missing = 0;  // bit by place among them: there is none, as a dimension ends here
  // Two neighbours are one, along a periodic dimension of one or two. Which of two blocks for it is
  // which, MPICH 4.0 (v and w) and Open MPI 4.1 (nonblocking) have otherwise than MPI 4.1, section
  // 8.6.
  bool has_twins = false;
};

/// The grid of `comm`, whose rank r is node r of `torus`. None where it has no Cartesian topology,
/// one of other dimensions, or one that is periodic where the torus ends. Alike on all ranks, but
/// for what is missing. Of a grid that ends where the torus is a ring the way round is not used.
std::optional<Grid> findGrid(MPI_Comm comm, const Topology& torus);

/// Whether MPI's own neighbourhood collectives can be made on a communicator.
bool hasGrid(MPI_Comm comm);

/// Gives a communicator of the same members, in its place, the Cartesian topology that `comm` has:
/// MPI's own neighbourhood collectives go by it. Collective, and waits inside MPI. What MPI does
/// not make stays as it is.
void copyGrid(MPI_Comm comm, MPI_Comm* same);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_COMMUNICATOR_CARTESIAN_GRID_H_
