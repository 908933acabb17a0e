// Parameters of an LU factorization: its block sizes, with their checks, its memory, its words.
#ifndef TORC_LINALG_LU_LU_SHAPE_H_
#define TORC_LINALG_LU_LU_SHAPE_H_

#include <cstdint>

#include "linalg/grid/choose_grid.h"
#include "linalg/grid/layout.h"

namespace torc::linalg {

struct LuShape {
  torc_linalg_matrix matrix;
  bool pivoting = true;
  std::int64_t panel = 256;  // most columns of a panel

  std::int64_t pivots() const;

  /// Most columns of a panel: with layers the paper's n / sqrt(P c), or less. Within a block,
  /// except on one process, whose blocks all have one owner.
  std::int64_t width(const GridSizes& grid) const;

  /// Most columns of an outer block column: with layers at most the paper's n / sqrt(P / c), in
  /// whole blocks if these are not wider; in one layer those of a panel.
  std::int64_t outerWidth(const GridSizes& grid) const;

  /// Most columns, and rows, of a process in an outer block column, and in the rows of its
  /// diagonal.
  std::int64_t outerColumns(const GridSizes& grid) const;
  std::int64_t outerRows(const GridSizes& grid) const;

  /// Most of a process's `count` columns or rows that belong to one layer, if those of the matrix
  /// are distributed cyclically.
  std::int64_t mostDealt(std::int64_t count, int layers) const {
    return count / layers + count / matrix.column_block + 1;
  }

  /// End of the outer block column that begins at `begin`; end of the panel, in an outer block
  /// column that ends at `end`.
  std::int64_t outerEnd(const GridSizes& grid, std::int64_t begin) const;
  std::int64_t panelEnd(const GridSizes& grid, std::int64_t begin, std::int64_t end) const;

 private:
  std::int64_t endWithin(const GridSizes& grid, std::int64_t begin, std::int64_t width,
                         std::int64_t end) const;
};

/// TORC_LINALG_ERR_ARGUMENT if blocks are not square, or a panel is too wide for a tournament.
void checkLu(const LuShape& shape);

/// Largest memory of a process in bytes: its part of the matrix, and workspace.
double luMemory(const GridSizes& grid, const LuShape& shape, int element);

/// Words that a process receives or contributes in the factorization's collectives, one after the
/// other: for each, the maximum over processes.
double luWords(const GridSizes& grid, const LuShape& shape);

}  // namespace torc::linalg

#endif  // TORC_LINALG_LU_LU_SHAPE_H_
