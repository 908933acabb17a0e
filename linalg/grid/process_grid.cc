#include "linalg/grid/process_grid.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "linalg/grid/grid_agreement.h"
#include "linalg/grid/torus_place.h"

namespace torc::linalg {

Status checkGrid(int processes, int rows, int columns, int layers) {
  const std::string shape =
      std::to_string(rows) + "x" + std::to_string(columns) + "x" + std::to_string(layers);
  if (rows < 1 || columns < 1 || layers < 1)
    return failure(TORC_LINALG_ERR_GRID, "grid " + shape + ": sizes are 1 or more");
  // The product of two numbers below 2^31 fits; the third is checked by a division.
  const std::int64_t layer = std::int64_t{rows} * columns;
  if (layer > processes || layer * layers != processes)
    return failure(TORC_LINALG_ERR_GRID, "grid " + shape + " does not have the " +
                                             std::to_string(processes) +
                                             " processes of the communicator");
  if (std::int64_t{layers} * layers > processes / layers)
    return failure(TORC_LINALG_ERR_GRID, "grid " + shape + ": " + std::to_string(layers) +
                                             " layers are more than the cube root of " +
                                             std::to_string(processes) + " processes");
  return {};
}

Status ProcessGrid::create(MPI_Comm comm, int rows, int columns, int layers, GridOrder order,
                           std::unique_ptr<ProcessGrid>* grid) {
  int size = 0, rank = 0;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  if (Status status = agree(comm, checkGrid(size, rows, columns, layers),
                            {{"rows", rows},
                             {"columns", columns},
                             {"layers", layers},
                             {"the order of the grid", static_cast<std::int64_t>(order)}});
      !status.ok())
    return status;

  std::unique_ptr<ProcessGrid> made(new ProcessGrid(rows, columns, layers));
  made->column = rank % columns;
  made->row = rank / columns % rows;
  made->layer = rank / columns / rows;
  MPI_Comm_dup(comm, &made->all);
  MPI_Comm_set_errhandler(made->all, MPI_ERRORS_ARE_FATAL);
  int row = 0, column = 0, layer = 0;
  if (order == GridOrder::kOnTorus &&
      placeOnTorus(made->all, rows, columns, layers, &row, &column, &layer)) {
    std::vector<int> ranks(static_cast<std::size_t>(size), -1);
    const int place = (layer * rows + row) * columns + column;
    ranks[static_cast<std::size_t>(place)] = rank;
    MPI_Allreduce(MPI_IN_PLACE, ranks.data(), size, MPI_INT, MPI_MAX, made->all);
    // Connected jobs may each have a rank on one node: then some other node has none.
    made->on_torus = std::find(ranks.begin(), ranks.end(), -1) == ranks.end();
    if (made->on_torus) {
      made->row = row;
      made->column = column;
      made->layer = layer;
      made->ranks.assign(ranks.begin(), ranks.begin() + std::int64_t{rows} * columns);
    }
  }
  MPI_Comm_split(made->all, made->layer * rows + made->row, made->column, &made->row_line);
  MPI_Comm_split(made->all, made->layer * columns + made->column, made->row, &made->column_line);
  MPI_Comm_split(made->all, made->row * columns + made->column, made->layer, &made->depth_line);
  *grid = std::move(made);
  return {};
}

ProcessGrid::~ProcessGrid() {
  for (MPI_Comm* comm : {&depth_line, &column_line, &row_line, &all}) {
    if (*comm != MPI_COMM_NULL) MPI_Comm_free(comm);
  }
}

}  // namespace torc::linalg
