#include "linalg/grid/process_grid.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "linalg/grid/grid_agreement.h"
#include "linalg/grid/torus_place.h"

namespace torc::linalg {
namespace {

void checkGrid(int processes, const GridSizes& sizes) {
  const auto& [rows, columns, layers] = sizes;
  const std::string shape =
      std::to_string(rows) + "x" + std::to_string(columns) + "x" + std::to_string(layers);
  if (rows < 1 || columns < 1 || layers < 1)
    throw Failure{TORC_LINALG_ERR_GRID, "grid " + shape + ": sizes are 1 or more"};
  // The product of two numbers below 2^31 fits; the third is checked by a division.
  const std::int64_t layer = std::int64_t{rows} * columns;
  if (layer > processes || layer * layers != processes)
    throw Failure{TORC_LINALG_ERR_GRID, "grid " + shape + " does not have the " +
                                            std::to_string(processes) +
                                            " processes of the communicator"};
  if (std::int64_t{layers} * layers > processes / layers)
    throw Failure{TORC_LINALG_ERR_GRID, "grid " + shape + ": " + std::to_string(layers) +
                                            " layers are more than the cube root of " +
                                            std::to_string(processes) + " processes"};
}

}  // namespace

ProcessGrid::ProcessGrid(MPI_Comm comm, const GridSizes& sizes, GridOrder order)
    : GridSizes(sizes) {
  int size = 0, rank = 0;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  agree(comm, [&] { checkGrid(size, sizes); },
        {{"rows", rows},
         {"columns", columns},
         {"layers", layers},
         {"the order of the grid", static_cast<std::int64_t>(order)}});
  column = rank % columns;
  row = rank / columns % rows;
  layer = rank / columns / rows;
  MPI_Comm_dup(comm, &all);
  MPI_Comm_set_errhandler(all, MPI_ERRORS_ARE_FATAL);
  std::array<int, 3> there = {};  // column, row, layer
  if (order == GridOrder::kOnTorus && placeOnTorus(all, sizes, &there)) {
    std::vector<int> every(static_cast<std::size_t>(size), -1);
    const int place = (there[2] * rows + there[1]) * columns + there[0];
    every[static_cast<std::size_t>(place)] = rank;
    MPI_Allreduce(MPI_IN_PLACE, every.data(), size, MPI_INT, MPI_MAX, all);
    // Connected jobs may each have a rank on one node: then some other node has none.
    on_torus = std::find(every.begin(), every.end(), -1) == every.end();
    if (on_torus) {
      column = there[0];
      row = there[1];
      layer = there[2];
      ranks.assign(every.begin(), every.begin() + std::int64_t{rows} * columns);
    }
  }
  MPI_Comm_split(all, layer * rows + row, column, &row_line);
  MPI_Comm_split(all, layer * columns + column, row, &column_line);
  MPI_Comm_split(all, row * columns + column, layer, &depth_line);
}

ProcessGrid::~ProcessGrid() {
  for (MPI_Comm* comm : {&depth_line, &column_line, &row_line, &all}) {
    if (*comm != MPI_COMM_NULL) MPI_Comm_free(comm);
  }
}

}  // namespace torc::linalg
