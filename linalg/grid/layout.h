// Matrices of the C API on the layers of a grid.
#ifndef TORC_LINALG_GRID_LAYOUT_H_
#define TORC_LINALG_GRID_LAYOUT_H_

#include <string>

#include "linalg/failure.h"
#include "linalg/grid/cyclic.h"

namespace torc::linalg {

/// The progress callback of torc_linalg_options; called periodically with the completed share of
/// the work.
struct Progress {
  void (*call)(double done, void* argument) = nullptr;
  void* argument = nullptr;

  void operator()(double done) const {
    if (call != nullptr) call(done, argument);
  }
};

inline Cyclic rowsOf(const torc_linalg_matrix& matrix, int grid_rows) {
  return {matrix.rows, matrix.row_block, grid_rows, 0};
}

inline Cyclic columnsOf(const torc_linalg_matrix& matrix, int grid_columns) {
  return {matrix.columns, matrix.column_block, grid_columns, 0};
}

/// TORC_LINALG_ERR_ARGUMENT if a size is negative, a block is not positive, or a local matrix would
/// have 2^31 rows or columns.
void checkMatrix(const torc_linalg_matrix& matrix, int grid_rows, int grid_columns,
                 const std::string& name);

}  // namespace torc::linalg

#endif  // TORC_LINALG_GRID_LAYOUT_H_
