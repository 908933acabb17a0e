// The processes of a communicator as rows x columns x layers, and a communicator for each line: on
// a torus of that shape, mapped by rank, each is a line of the torus.
#ifndef TORC_LINALG_GRID_PROCESS_GRID_H_
#define TORC_LINALG_GRID_PROCESS_GRID_H_

#include <memory>

#include <mpi.h>

#include "linalg/status.h"

namespace torc::linalg {

/// Rank = (layer * rows + row) * columns + column: a layer is numbered as a row-major grid of
/// BLACS.
class ProcessGrid {
 public:
  /// Collective over `comm`, which is duplicated. TORC_LINALG_ERR_GRID where the sizes are not
  /// those of the communicator, or layers^3 exceeds it (the 2.5D paper, section 3.1: c <= P^(1/3)).
  static Status create(MPI_Comm comm, int rows, int columns, int layers,
                       std::unique_ptr<ProcessGrid>* grid);
  ~ProcessGrid();
  ProcessGrid(const ProcessGrid&) = delete;
  ProcessGrid& operator=(const ProcessGrid&) = delete;

  const int rows, columns, layers;
  int row = 0, column = 0, layer = 0;  // of this process

  MPI_Comm all = MPI_COMM_NULL;
  MPI_Comm row_line = MPI_COMM_NULL;     // same row and layer; its rank is the column
  MPI_Comm column_line = MPI_COMM_NULL;  // same column and layer; its rank is the row
  MPI_Comm depth_line = MPI_COMM_NULL;   // same row and column; its rank is the layer

 private:
  ProcessGrid(int rows, int columns, int layers) : rows(rows), columns(columns), layers(layers) {}
};

/// Whether rows x columns x layers is a grid of `processes`.
Status checkGrid(int processes, int rows, int columns, int layers);

}  // namespace torc::linalg

#endif  // TORC_LINALG_GRID_PROCESS_GRID_H_
