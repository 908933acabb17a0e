#include "linalg/grid/layout.h"

#include <limits>

namespace torc::linalg {

void checkMatrix(const torc_linalg_matrix& matrix, int grid_rows, int grid_columns,
                 const std::string& name) {
  const std::string size = std::to_string(matrix.rows) + " x " + std::to_string(matrix.columns);
  const std::string blocks =
      std::to_string(matrix.row_block) + " x " + std::to_string(matrix.column_block);
  // Global sizes of 2^40 keep products of a block and a number of processes within 64 bits.
  constexpr std::int64_t kLargest = std::int64_t{1} << 40;
  if (matrix.rows < 0 || matrix.columns < 0 || matrix.rows > kLargest || matrix.columns > kLargest)
    throw Failure{TORC_LINALG_ERR_ARGUMENT, name + " is " + size + ": sizes are 0 to 2^40"};
  constexpr std::int64_t kLargestBlock = std::numeric_limits<int>::max();
  if (matrix.row_block < 1 || matrix.column_block < 1 || matrix.row_block > kLargestBlock ||
      matrix.column_block > kLargestBlock)
    throw Failure{TORC_LINALG_ERR_ARGUMENT,
                  name + " has blocks of " + blocks + ": they are 1 x 1 to 2^31 - 1"};
  constexpr std::int64_t kLargestLocal = std::numeric_limits<int>::max();
  if (rowsOf(matrix, grid_rows).most() > kLargestLocal ||
      columnsOf(matrix, grid_columns).most() > kLargestLocal)
    throw Failure{TORC_LINALG_ERR_ARGUMENT,
                  name + " is " + size + ": " + std::to_string(grid_rows) + "x" +
                      std::to_string(grid_columns) + " processes get 2^31 rows or columns each"};
}

}  // namespace torc::linalg
