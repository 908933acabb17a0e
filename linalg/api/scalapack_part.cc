#include "linalg/api/scalapack_part.h"

#include <algorithm>

namespace torc::linalg {

void ScalapackPart::check(const ProcessGrid& grid, const void* data) const {
  if (blacs == nullptr || desc == nullptr)
    throw Failure{TORC_LINALG_ERR_ARGUMENT, name + " has no descriptor, or no grid of BLACS"};
  const std::string shape = std::to_string(blacs->rows) + "x" + std::to_string(blacs->columns);
  const std::int64_t processes = std::int64_t{grid.rows} * grid.columns * grid.layers;
  if (blacs->rows < 1 || blacs->columns < 1 ||
      std::int64_t{blacs->rows} * blacs->columns > processes)
    throw Failure{TORC_LINALG_ERR_GRID, "the grid of BLACS is " + shape + ": there are " +
                                            std::to_string(processes) + " processes"};
  if (std::string("RrCc").find(blacs->order) == std::string::npos || blacs->order == '\0')
    throw Failure{TORC_LINALG_ERR_ARGUMENT, "the order of the grid of BLACS is 'R' or 'C'"};
  if (!isTransposed() && transposed != 'N' && transposed != 'n')
    throw Failure{TORC_LINALG_ERR_ARGUMENT, name + " is transposed by '" +
                                                std::string(1, transposed) + "': it is 'N' or 'T'"};
  if (desc[kType] != 1)
    throw Failure{TORC_LINALG_ERR_ARGUMENT, "the descriptor of " + name + " has type " +
                                                std::to_string(desc[kType]) +
                                                ": dense matrices have 1"};
  if (desc[kRows] < 0 || desc[kColumns] < 0 || desc[kRowBlock] < 1 || desc[kColumnBlock] < 1 ||
      desc[kFirstRow] < 0 || desc[kFirstRow] >= blacs->rows || desc[kFirstColumn] < 0 ||
      desc[kFirstColumn] >= blacs->columns)
    throw Failure{TORC_LINALG_ERR_ARGUMENT,
                  "the descriptor of " + name + " has a size, block or first process out of range"};
  const std::int64_t stored_rows = isTransposed() ? columns : rows;
  const std::int64_t stored_columns = isTransposed() ? rows : columns;
  if (ia < 1 || ja < 1 || ia - 1 + stored_rows > desc[kRows] ||
      ja - 1 + stored_columns > desc[kColumns])
    throw Failure{TORC_LINALG_ERR_MISMATCH,
                  name + "(" + std::to_string(ia) + ", " + std::to_string(ja) + ") of " +
                      std::to_string(stored_rows) + " x " + std::to_string(stored_columns) +
                      " is not within " + std::to_string(desc[kRows]) + " x " +
                      std::to_string(desc[kColumns])};
  int rank = 0;
  MPI_Comm_rank(grid.all, &rank);
  if (rank >= blacs->rows * blacs->columns) return;
  const Placement<const char> place = placement(static_cast<const char*>(data));
  const int row = place.row_major ? rank / blacs->columns : rank % blacs->rows;
  const int column = place.row_major ? rank % blacs->columns : rank / blacs->rows;
  const std::int64_t local_rows = place.rows.count(row);
  if (desc[kLeading] < std::max<std::int64_t>(1, local_rows))
    throw Failure{TORC_LINALG_ERR_MISMATCH, "the descriptor of " + name +
                                                " has the leading dimension " +
                                                std::to_string(desc[kLeading]) + " for " +
                                                std::to_string(local_rows) + " local rows"};
  if (data == nullptr && local_rows > 0 && place.columns.count(column) > 0 && rows > 0 &&
      columns > 0)
    throw Failure{TORC_LINALG_ERR_ARGUMENT, name + " is null"};
}

void ScalapackPart::addTo(SameArguments& same) const {
  const bool known = blacs != nullptr && desc != nullptr;
  same.insert(same.end(), {{"a size", rows},
                           {"a size", columns},
                           {"a first row", ia},
                           {"a first column", ja},
                           {"whether a matrix is transposed", isTransposed() ? 1 : 0},
                           {"the rows of the grid of BLACS", known ? blacs->rows : 0},
                           {"the columns of the grid of BLACS", known ? blacs->columns : 0},
                           {"the order of the grid of BLACS", known ? (blacs->order | 32) : 0}});
  for (const int entry : {kRows, kColumns, kRowBlock, kColumnBlock, kFirstRow, kFirstColumn})
    same.emplace_back("a descriptor of ScaLAPACK", known ? desc[entry] : 0);
}

}  // namespace torc::linalg
