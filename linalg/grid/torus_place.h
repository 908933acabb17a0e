// Maps a grid of processes to the torus of the job, so that each of its lines is a line, or a plane
// or box, of the torus.
#ifndef TORC_LINALG_GRID_TORUS_PLACE_H_
#define TORC_LINALG_GRID_TORUS_PLACE_H_

#include <array>
#include <cstdint>

#include <mpi.h>

#include "linalg/grid/choose_grid.h"

namespace torc::linalg {

inline constexpr int kMostAxes = 8;

/// Role of an axis of the torus in the grid.
enum class AxisRole : std::uint8_t { kColumns, kRows, kLayers };
using AxisRoles = std::array<AxisRole, kMostAxes>;

/// Roles of the axes of a box with the given extents: the axes of each role together have as many
/// nodes as the grid has columns, rows or layers. Of several choices the one in which the fewest
/// axes share a role, then the one with columns on the first axes. False if there is none.
bool assignAxes(const int* extents, int axes, const GridSizes& grid, AxisRoles* roles);

/// Collective over `comm`. True on all ranks, with the caller's column, row and layer, if the ranks
/// fill a box of the torus with the grid's sizes. libtorc_pmpi.so must be loaded and know their
/// positions.
bool placeOnTorus(MPI_Comm comm, const GridSizes& grid, std::array<int, 3>* place);

}  // namespace torc::linalg

#endif  // TORC_LINALG_GRID_TORUS_PLACE_H_
