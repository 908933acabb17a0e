// What an LU factorization is asked for: its block sizes, whether it can be, its memory, its words.
#ifndef TORC_LINALG_LU_LU_SHAPE_H_
#define TORC_LINALG_LU_LU_SHAPE_H_

#include <cstdint>

#include "linalg/grid/choose_grid.h"
#include "linalg/grid/layout.h"
#include "linalg/status.h"

namespace torc::linalg {

struct LuShape {
  torc_linalg_matrix matrix;
  bool pivoting = true;
  std::int64_t panel = 256;  // most columns of a panel

  std::int64_t pivots() const;

  /// Columns of a panel, at most: with layers the paper's n / sqrt(P c), or less. Within a block,
  /// but on one process, where blocks do not tell owners apart.
  std::int64_t width(const GridSizes& grid) const;

  /// Columns of an outer block column, at most: with layers at most the paper's n / sqrt(P / c), in
  /// whole blocks where a block is not more; in one layer those of a panel.
  std::int64_t outerWidth(const GridSizes& grid) const;

  /// The most columns, and rows, that a process of the grid has of an outer block column, and of
  /// the rows of its diagonal.
  std::int64_t outerColumns(const GridSizes& grid) const;
  std::int64_t outerRows(const GridSizes& grid) const;

  /// The most of `count` columns or rows of a process, in blocks, that are one layer's where those
  /// of the matrix are dealt one by one.
  std::int64_t mostDealt(std::int64_t count, int layers) const {
    return count / layers + count / matrix.column_block + 1;
  }

  /// Where the outer block column ends that begins at `begin`; where the panel does, in an outer
  /// block column that ends at `end`.
  std::int64_t outerEnd(const GridSizes& grid, std::int64_t begin) const;
  std::int64_t panelEnd(const GridSizes& grid, std::int64_t begin, std::int64_t end) const;

 private:
  std::int64_t endWithin(const GridSizes& grid, std::int64_t begin, std::int64_t width,
                         std::int64_t end) const;
};

/// TORC_LINALG_ERR_ARGUMENT where blocks are not square, or a panel is too wide for a tournament.
Status checkLu(const LuShape& shape);

/// Bytes of a process that has most: its part of the matrix, and work.
double luMemory(const GridSizes& grid, const LuShape& shape, int element);

/// Words that collectives of the factorization bring a process or it gives to them, one after the
/// other: at each, those of the process that has most.
double luWords(const GridSizes& grid, const LuShape& shape);

}  // namespace torc::linalg

#endif  // TORC_LINALG_LU_LU_SHAPE_H_
