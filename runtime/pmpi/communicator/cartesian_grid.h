// Grid: the Cartesian topology of a communicator, if its neighbours are neighbours on the torus of
// its ranks.
#ifndef TORC_RUNTIME_PMPI_COMMUNICATOR_CARTESIAN_GRID_H_
#define TORC_RUNTIME_PMPI_COMMUNICATOR_CARTESIAN_GRID_H_

#include <cstdint>
#include <optional>

#include <mpi.h>

#include "schedules/topology/topology.h"

namespace torc::runtime::pmpi {

struct Grid {
  int neighbours = 0;         // two along each dimension
  std::uint32_t missing = 0;  // bit by place among them: no neighbour, at the end of a dimension
  // Two neighbours are the same rank, along a periodic dimension of one or two ranks. MPICH 4.0 (v
  // and w) and Open MPI 4.1 (nonblocking) order the two blocks for it differently from MPI 4.1,
  // section 8.6.
  bool has_twins = false;
};

/// The grid of `comm`, where rank r is node r of `torus`. None if `comm` has no Cartesian topology,
/// or other dimensions, or a periodic dimension where the torus has no wrap-around link. The same
/// on all ranks, except `missing`. A grid that is not periodic does not use the torus's wrap-around
/// links.
std::optional<Grid> findGrid(MPI_Comm comm, const Topology& torus);

/// Whether the communicator supports MPI's own neighbourhood collectives.
bool hasGrid(MPI_Comm comm);

/// Replaces a communicator of the same members by one with the Cartesian topology of `comm`, which
/// MPI's own neighbourhood collectives need. Collective, and waits inside MPI. Unchanged if MPI
/// cannot create it.
void copyGrid(MPI_Comm comm, MPI_Comm* same);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_COMMUNICATOR_CARTESIAN_GRID_H_
