#include "linalg/lu/lu_shape.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "linalg/grid/messages.h"

namespace torc::linalg {
namespace {

std::int64_t divideUp(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// The most of `width` consecutive indices on one of `processes`.
std::int64_t mostOf(std::int64_t width, std::int64_t block, int processes) {
  return width <= block ? width : divideUp(divideUp(width, block), processes) * block;
}

int sideOf(const GridSizes& grid) {
  return std::max(grid.rows, grid.columns);
}

// A set of candidates is one element of a reduction, with its size in an `int`; gathered rows of a
// block column are counted in one.
constexpr std::int64_t kWidestPanel = 8192, kWidestOuter = std::int64_t{1} << 17;

}  // namespace

std::int64_t LuShape::pivots() const {
  return std::min(matrix.rows, matrix.columns);
}

std::int64_t LuShape::width(const GridSizes& grid) const {
  std::int64_t width = std::min(panel, pivots());
  if (grid.rows * grid.columns > 1) width = std::min(width, matrix.column_block);
  if (grid.layers > 1)
    width = std::min(width, divideUp(pivots(), std::int64_t{sideOf(grid)} * grid.layers));
  return std::max<std::int64_t>(1, width);
}

std::int64_t LuShape::outerWidth(const GridSizes& grid) const {
  const std::int64_t inner = width(grid);
  if (grid.layers == 1) return inner;
  // Beyond the widths at which every process column has a part of one and thin panels have the full
  // panel width, wider ones save few messages and cost memory.
  const std::int64_t block = matrix.column_block;
  std::int64_t outer = std::min(
      {divideUp(pivots(), sideOf(grid)),
       std::max(sideOf(grid) * std::min(block, pivots()), panel * grid.layers), kWidestOuter});
  if (outer > block) outer = outer / block * block;
  return std::max(outer, inner);
}

std::int64_t LuShape::outerColumns(const GridSizes& grid) const {
  return mostOf(outerWidth(grid), matrix.column_block, grid.columns);
}

std::int64_t LuShape::outerRows(const GridSizes& grid) const {
  return mostOf(outerWidth(grid), matrix.row_block, grid.rows);
}

std::int64_t LuShape::outerEnd(const GridSizes& grid, std::int64_t begin) const {
  return endWithin(grid, begin, outerWidth(grid), pivots());
}

std::int64_t LuShape::panelEnd(const GridSizes& grid, std::int64_t begin, std::int64_t end) const {
  return endWithin(grid, begin, width(grid), end);
}

std::int64_t LuShape::endWithin(const GridSizes& grid, std::int64_t begin, std::int64_t width,
                                std::int64_t end) const {
  end = std::min(end, begin + width);
  // Widths over a block are whole blocks.
  if (grid.rows * grid.columns == 1 || width > matrix.column_block) return end;
  return std::min(end, (begin / matrix.column_block + 1) * matrix.column_block);
}

void checkLu(const LuShape& shape) {
  if (shape.matrix.row_block != shape.matrix.column_block)
    throw Failure{TORC_LINALG_ERR_MISMATCH, "blocks of " + std::to_string(shape.matrix.row_block) +
                                                " x " + std::to_string(shape.matrix.column_block) +
                                                ": LU wants them square"};
  if (shape.panel < 1 ||
      std::min({shape.panel, shape.matrix.column_block, shape.pivots()}) > kWidestPanel)
    throw Failure{TORC_LINALG_ERR_ARGUMENT, "panels of " + std::to_string(shape.panel) +
                                                " columns: LU takes 1 to " +
                                                std::to_string(kWidestPanel)};
}

double luMemory(const GridSizes& grid, const LuShape& shape, int element) {
  const double m = static_cast<double>(rowsOf(shape.matrix, grid.rows).most());
  const double n = static_cast<double>(columnsOf(shape.matrix, grid.columns).most());
  const double layers = grid.layers;
  const double width = static_cast<double>(shape.width(grid));
  const double outer = static_cast<double>(shape.outerWidth(grid));
  const double outer_columns = static_cast<double>(shape.outerColumns(grid));
  const double outer_rows = static_cast<double>(shape.outerRows(grid));
  const double share = std::floor((m + layers - 1) / layers), thin = outer / layers + 1;
  const double mine = n / layers + 1, piece = static_cast<double>(kPieceElements);
  const bool alone = grid.rows * layers == 1;
  double elements = m * n + 2 * width * width;
  double bytes = 16 * (width + 8) + 40 * (share + outer) + 16 * static_cast<double>(shape.pivots());
  // The share of a block column and its thin panel of L, L of the share, U of a block row, and
  // gathered rows.
  if (!alone) elements += share * outer_columns + outer * mine;
  if (!alone || grid.columns > 1) elements += m * thin + share * width;
  if (!alone || !shape.pivoting) elements += 4 * width * std::max(width, outer_columns);
  if (layers > 1) {
    const double own_l =
        static_cast<double>(shape.mostDealt(shape.outerColumns(grid), grid.layers));
    const double own_u = static_cast<double>(shape.mostDealt(shape.outerRows(grid), grid.layers));
    elements += outer_rows * (outer + mine) + (thin + own_u) * n + own_l * m;
    // Elements packed, sent and received in one piece.
    const double largest =
        std::max({m * (own_l + outer_columns), m * thin, share * 2 * outer_columns,
                  (own_u + outer_rows) * n, thin * n, 2 * outer_rows * mine, outer_rows * outer});
    elements += 3 * std::max({m, n, outer, std::min(piece, largest)});
  }
  if (shape.pivoting) {
    // Workspace for choosing candidates, or for a match; sent and received rows.
    elements += std::max(width * share, 4 * width * width);
    const double moved = std::max(2 * outer * (n + thin), m * outer_columns);
    elements += 2 * std::max({m, 2 * outer, std::min(piece, moved)});
    bytes += 8 * share + 250 * static_cast<double>(shape.pivots()) + 250 * outer;
  }
  return bytes + elements * element;
}

double luWords(const GridSizes& grid, const LuShape& shape) {
  const double rows = grid.rows, columns = grid.columns, layers = grid.layers;
  const double k = static_cast<double>(shape.pivots());
  const double width = static_cast<double>(shape.width(grid));
  const double outer = static_cast<double>(shape.outerWidth(grid));
  const double outer_columns = static_cast<double>(shape.outerColumns(grid));
  const double outer_rows = static_cast<double>(shape.outerRows(grid));
  // Averages over the block columns: rows from its first, columns right of it.
  const double m = static_cast<double>(shape.matrix.rows) - (k - outer) / 2;
  const double n = static_cast<double>(shape.matrix.columns) - (k + outer) / 2;
  // The part of a line's data that comes from others.
  const double row_others = (rows - 1) / rows, layer_others = (layers - 1) / layers;
  // Rows gathered to a column of processes, over the layers, then along it: pivot rows come from
  // everywhere, rows of a diagonal block from one process row.
  const double plane_others =
      shape.pivoting ? 1 - 1 / (rows * layers) : layer_others + (rows > 1 ? 1 : 0);
  const double column_others = (columns - 1) / columns;
  // Words of a process in a block column: for C, the sum of its share, L of it to layer 0 and to
  // the layers, and thin panels along rows; the same for rows of U, along columns.
  double words = m / rows * (outer_columns * (2 + 1 / layers) * layer_others);
  words += n / columns * (outer_rows * (2 + 1 / layers) * layer_others);
  if (layers > 1) words += outer / layers * (m / rows * column_others + n / columns * row_others);
  words += outer_rows * outer * layer_others;
  if (rows > 1) words += outer * n / columns / layers;
  // Words in its panels: L along rows, and pivot rows to the column.
  const double set = width * width + width + 4;
  if (columns > 1)
    words += outer * ((m - outer / 2 + width / 2) / rows / layers + set / width) - width * width;
  words += outer * (outer_columns - std::min(width, outer_columns)) / 2 * plane_others;
  if (shape.pivoting) {
    words += outer / width * set * 2 * ((rows > 1 ? 1 : 0) + (layers > 1 ? 1 : 0));
    words += (outer_rows * row_others + (outer - outer_rows) / rows) *
             (n / columns + outer_columns + outer / layers);
    // At the end, for all of a process's columns at once.
    words += outer / columns * (m - outer) / rows * row_others;
  } else {
    words += outer * width * plane_others;
  }
  return words * k / outer;
}

}  // namespace torc::linalg
