// Grid: reads a communicator's Cartesian topology from MPI.
#include "runtime/pmpi/communicator/cartesian_grid.h"

#include <vector>

namespace torc::runtime::pmpi {

bool hasGrid(MPI_Comm comm) {
  int kind = MPI_UNDEFINED;
  PMPI_Topo_test(comm, &kind);
  return kind == MPI_CART;
}

namespace {

/// In MPI's order: the dimension that varies slowest with the rank comes first.
struct Cartesian {
  std::vector<int> sizes, periods, at;
};

std::optional<Cartesian> cartesianOf(MPI_Comm comm) {
  if (!hasGrid(comm)) return std::nullopt;
  int dimensions = 0;
  PMPI_Cartdim_get(comm, &dimensions);
  const std::vector<int> none(static_cast<std::size_t>(dimensions));
  Cartesian of{none, none, none};
  PMPI_Cart_get(comm, dimensions, of.sizes.data(), of.periods.data(), of.at.data());
  return of;
}

}  // namespace

std::optional<Grid> findGrid(MPI_Comm comm, const Topology& torus) {
  const std::optional<Cartesian> of = cartesianOf(comm);
  if (!of || of->sizes.size() != torus.axis_count) return std::nullopt;
  Grid grid{2 * static_cast<int>(torus.axis_count)};
  for (std::uint32_t i = 0; i < torus.axis_count; ++i) {
    const Axis& axis = torus.axes[torus.order[torus.axis_count - 1 - i]];
    const bool is_periodic = of->periods[i] != 0;
    if (of->sizes[i] != static_cast<int>(axis.size)) return std::nullopt;
    if (is_periodic && axis.kind == AxisKind::kMesh) return std::nullopt;
    grid.has_twins |= is_periodic && axis.size <= 2;
    if (is_periodic) continue;
    if (of->at[i] == 0) grid.missing |= 1u << (2 * i);
    if (of->at[i] == of->sizes[i] - 1) grid.missing |= 1u << (2 * i + 1);
  }
  return grid;
}

void copyGrid(MPI_Comm comm, MPI_Comm* same) {
  const std::optional<Cartesian> of = cartesianOf(comm);
  if (!of) return;
  MPI_Comm made = MPI_COMM_NULL;
  const int code = PMPI_Cart_create(*same, static_cast<int>(of->sizes.size()), of->sizes.data(),
                                    of->periods.data(), /*reorder=*/0, &made);
  if (code != MPI_SUCCESS || made == MPI_COMM_NULL) return;
  PMPI_Comm_free(same);
  *same = made;
}

}  // namespace torc::runtime::pmpi
