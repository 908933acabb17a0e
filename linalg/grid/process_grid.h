// The processes of a communicator as rows x columns x layers, and a communicator for each line.
#ifndef TORC_LINALG_GRID_PROCESS_GRID_H_
#define TORC_LINALG_GRID_PROCESS_GRID_H_

#include <vector>

#include <mpi.h>

#include "linalg/grid/choose_grid.h"

namespace torc::linalg {

/// Order of ranks on the grid.
enum class GridOrder {
  /// Rank = (layer * rows + row) * columns + column: a layer is numbered like a row-major grid of
  /// BLACS. On a torus of columns x rows x layers with this order of ranks each line is a line of
  /// the torus.
  kByRank,
  /// By position on the job's torus (linalg/grid/torus_place.h), if it is known and has the grid's
  /// sizes; else by rank.
  kOnTorus
};

class ProcessGrid : public GridSizes {
 public:
  /// Collective over `comm`, which is duplicated. TORC_LINALG_ERR_GRID if the sizes do not match
  /// the communicator, or layers^3 exceeds its size (the 2.5D paper, section 3.1: c <= P^(1/3)).
  ProcessGrid(MPI_Comm comm, const GridSizes& sizes, GridOrder order);
  ~ProcessGrid();
  ProcessGrid(const ProcessGrid&) = delete;
  ProcessGrid& operator=(const ProcessGrid&) = delete;

  int row = 0, column = 0, layer = 0;  // of this process
  bool on_torus = false;               // whether they follow the torus
  /// The rank of each process of layer 0, row by row; empty: by rank.
  std::vector<int> ranks;

  MPI_Comm all = MPI_COMM_NULL;          // with the ranks of the caller's communicator
  MPI_Comm row_line = MPI_COMM_NULL;     // same row and layer; its rank is the column
  MPI_Comm column_line = MPI_COMM_NULL;  // same column and layer; its rank is the row
  MPI_Comm depth_line = MPI_COMM_NULL;   // same row and column; its rank is the layer
};

}  // namespace torc::linalg

#endif  // TORC_LINALG_GRID_PROCESS_GRID_H_
