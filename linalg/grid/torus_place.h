// How a grid of processes lies on the torus of the job, so that each of its lines is a line, or a
// plane or box, of the torus.
#ifndef TORC_LINALG_GRID_TORUS_PLACE_H_
#define TORC_LINALG_GRID_TORUS_PLACE_H_

#include <array>
#include <cstdint>

#include <mpi.h>

namespace torc::linalg {

inline constexpr int kMostAxes = 8;

/// What an axis of the torus is to the grid.
enum class AxisRole : std::uint8_t { kColumns, kRows, kLayers };
using AxisRoles = std::array<AxisRole, kMostAxes>;

/// Roles of the axes of a box whose extents are given, so that the axes of each role have as many
/// nodes together as the grid has columns, rows or layers. Of several choices the one in which
/// fewest axes share a role, then that with columns on the first ones. False where there is none.
bool assignAxes(const int* extents, int axes, int rows, int columns, int layers, AxisRoles* roles);

/// Collective over `comm`. Where libtorc_pmpi.so is loaded and knows where the ranks lie, and these
/// fill a box of the torus that has the grid's sizes: true on all ranks, with the caller's place in
/// the grid.
bool placeOnTorus(MPI_Comm comm, int rows, int columns, int layers, int* row, int* column,
                  int* layer);

}  // namespace torc::linalg

#endif  // TORC_LINALG_GRID_TORUS_PLACE_H_
