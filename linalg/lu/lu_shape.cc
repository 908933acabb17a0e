// What an LU factorization is asked for: whether it can be, its memory, and its words.
#include <algorithm>
#include <string>

#include "linalg/lu/factorization.h"

namespace torc::linalg {

std::int64_t LuShape::width() const {
  return std::max<std::int64_t>(
      1, std::min({panel, matrix.column_block, matrix.rows, matrix.columns}));
}

Status checkLu(const LuShape& shape) {
  if (shape.matrix.row_block != shape.matrix.column_block)
    return failure(TORC_LINALG_ERR_MISMATCH, "blocks of " + std::to_string(shape.matrix.row_block) +
                                                 " x " + std::to_string(shape.matrix.column_block) +
                                                 ": LU wants them square");
  // A set of candidates is one element of a reduction, whose bytes are an `int`.
  constexpr std::int64_t kWidest = 8192;
  if (shape.panel < 1 || shape.width() > kWidest)
    return failure(TORC_LINALG_ERR_ARGUMENT, "panels of " + std::to_string(shape.panel) +
                                                 " columns: LU takes 1 to " +
                                                 std::to_string(kWidest));
  return {};
}

double luMemory(int rows, int columns, int layers, const LuShape& shape, int element) {
  const double m = static_cast<double>(rowsOf(shape.matrix, rows).most());
  const double n = static_cast<double>(columnsOf(shape.matrix, columns).most());
  const double width = static_cast<double>(shape.width());
  const double thin = static_cast<double>((shape.width() + layers - 1) / layers);
  double elements = m * n + (width + thin) * (m + n) + 2 * width * width;
  double bytes = 0;
  if (shape.pivoting) {
    // Rows sent and received; what a process chooses candidates in, or a match does.
    elements += 4 * width * (n + width) + std::max(width * (m / layers + 1), 4 * width * width);
    bytes += 8 * (m / layers + 1);
  }
  bytes +=
      16 * (width + 8) + 8 * static_cast<double>(std::min(shape.matrix.rows, shape.matrix.columns));
  return bytes + elements * element;
}

double luWords(int rows, int columns, int layers, const LuShape& shape) {
  const double k = static_cast<double>(std::min(shape.matrix.rows, shape.matrix.columns));
  // On average over the panels: rows below, and columns to the right.
  const double m = static_cast<double>(shape.matrix.rows) - k / 2;
  const double n = static_cast<double>(shape.matrix.columns) - k / 2;
  const double width = static_cast<double>(shape.width());
  double words = k * m / rows / layers * (columns - 1) / columns +
                 k * n / columns / layers * (rows - 1) / rows;
  words += k * width * ((rows - 1.0) / rows / columns + (columns - 1.0) / columns / rows);
  if (layers > 1) words += k * (m + n) / rows / columns;
  if (shape.pivoting)
    words += 2 * k * static_cast<double>(shape.matrix.columns) / columns * (rows - 1) / rows / rows;
  return words;
}

}  // namespace torc::linalg
