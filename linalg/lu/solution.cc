#include "linalg/lu/solution.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/local/blas.h"
#include "linalg/lu/row_exchange.h"

namespace torc::linalg {
namespace {

/// Right-hand sides solved together.
constexpr std::int64_t kGroup = 128;

}  // namespace

template <typename T>
Solution<T>::Solution(const ProcessGrid& grid, const torc_linalg_matrix& matrix,
                      const LocalMatrix<T>& factors, const torc_linalg_matrix& b_matrix,
                      const LocalMatrix<T>& b)
    : grid_(grid),
      rows_(rowsOf(matrix, grid.rows)),
      columns_(columnsOf(matrix, grid.columns)),
      sides_(columnsOf(b_matrix, grid.columns)),
      factors_(factors),
      b_(b) {}

template <typename T>
void Solution<T>::allocate() {
  const std::int64_t group = std::min(kGroup, sides_.size);
  matrixIn(sums_, rows_.count(grid_.row), group);
  matrixIn(block_, std::min(rows_.block, rows_.size), group);
}

template <typename T>
void Solution<T>::solveBlock(Messages& messages, std::int64_t begin, bool lower,
                             std::int64_t group) {
  const std::int64_t end = std::min(begin + rows_.block, rows_.size);
  const int row = rows_.owner(begin), column = columns_.owner(begin);
  const std::int64_t rows = rows_.count(grid_.row);
  const std::int64_t top = rows_.before(grid_.row, begin), below = rows_.before(grid_.row, end);
  const std::int64_t left = columns_.before(grid_.column, begin);
  const LocalMatrix<T> sums = matrixIn(sums_, rows, group);
  const LocalMatrix<T> block = matrixIn(block_, end - begin, group);
  if (grid_.row == row) {
    const LocalMatrix<T> own = sums.part(top, 0, end - begin, group);
    copy(own, block);
    sumTo(messages, grid_.row_line, column, block, room_);
    if (grid_.column == column) {
      solveTriangle(CblasLeft, lower ? CblasLower : CblasUpper, lower ? CblasUnit : CblasNonUnit,
                    factors_.part(top, left, end - begin, end - begin), block);
      copy(block, own);
    } else {
      for (std::int64_t j = 0; j < group; ++j)
        std::fill_n(own.at(0, j), own.rows, T{0});
    }
  }
  if (grid_.column != column) return;
  broadcast(messages, grid_.column_line, row, block, room_);
  const std::int64_t from = lower ? below : 0, count = lower ? rows - below : top;
  multiplyAdd(T{-1}, factors_.part(from, left, count, end - begin), block,
              sums.part(from, 0, count, group));
}

template <typename T>
void Solution<T>::solveGroup(Messages& messages, std::int64_t begin, std::int64_t end) {
  const std::int64_t rows = rows_.count(grid_.row);
  const LocalMatrix<T> sums = matrixIn(sums_, rows, end - begin);
  for (std::int64_t j = begin; j < end; ++j) {
    if (sides_.owner(j) == grid_.column)
      std::copy_n(b_.at(0, sides_.local(j)), rows, sums.at(0, j - begin));
    else
      std::fill_n(sums.at(0, j - begin), rows, T{0});
  }
  for (std::int64_t at = 0; at < rows_.size; at += rows_.block)
    solveBlock(messages, at, true, end - begin);
  const std::int64_t last = (rows_.size - 1) / rows_.block * rows_.block;
  for (std::int64_t at = last; at >= 0; at -= rows_.block)
    solveBlock(messages, at, false, end - begin);
  sumToAll(messages, grid_.row_line, sums, room_);
  for (std::int64_t j = begin; j < end; ++j) {
    if (sides_.owner(j) == grid_.column)
      std::copy_n(sums.at(0, j - begin), rows, b_.at(0, sides_.local(j)));
  }
}

template <typename T>
void Solution<T>::run(Messages& messages, const std::int64_t* exchanges, const Progress& progress) {
  if (rows_.size == 0) return;
  if (exchanges != nullptr) {
    RowExchange<T> exchange(grid_, rows_);
    exchange.run(messages, movesOf(0, exchanges, rows_.size), {{b_, 0}});
  }
  for (std::int64_t begin = 0; begin < sides_.size; begin += kGroup) {
    const std::int64_t end = std::min(begin + kGroup, sides_.size);
    solveGroup(messages, begin, end);
    progress(static_cast<double>(end) / static_cast<double>(sides_.size));
  }
}

template <typename T>
std::int64_t firstZeroPivot(const ProcessGrid& grid, const torc_linalg_matrix& matrix,
                            const LocalMatrix<T>& factors) {
  const Cyclic rows = rowsOf(matrix, grid.rows), columns = columnsOf(matrix, grid.columns);
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t j = 0; grid.layer == 0 && j < factors.columns; ++j) {
    const std::int64_t s = columns.global(grid.column, j);
    if (s < rows.size && rows.owner(s) == grid.row && *factors.at(rows.local(s), j) == 0) {
      first = s;
      break;
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT64_T, MPI_MIN, grid.all);
  return first == std::numeric_limits<std::int64_t>::max() ? -1 : first;
}

template <typename T>
double scaledResidual(const ProcessGrid& grid, const LocalMatrix<const T>& a,
                      const LocalMatrix<const T>& x, const LocalMatrix<const T>& b,
                      const LocalMatrix<T>& r, std::int64_t n) {
  double residual = 0;
  if (grid.layer == 0) {
    std::vector<double> row_sums(static_cast<std::size_t>(a.rows), 0.0);
    for (std::int64_t j = 0; j < a.columns; ++j) {
      for (std::int64_t i = 0; i < a.rows; ++i)
        row_sums[static_cast<std::size_t>(i)] += std::abs(static_cast<double>(*a.at(i, j)));
    }
    MPI_Allreduce(MPI_IN_PLACE, row_sums.data(), static_cast<int>(row_sums.size()), MPI_DOUBLE,
                  MPI_SUM, grid.row_line);
    // The norms of A, and of each column of X, B and R. NaN is kept, as the largest value.
    const auto larger = [](double norm, double value) {
      return value > norm || std::isnan(value) ? value : norm;
    };
    std::vector<double> norms(static_cast<std::size_t>(1 + 3 * x.columns), 0.0);
    for (const double sum : row_sums)
      norms[0] = larger(norms[0], sum);
    for (std::int64_t j = 0; j < x.columns; ++j) {
      double* const of_column = norms.data() + 1 + 3 * j;
      for (std::int64_t i = 0; i < x.rows; ++i) {
        of_column[0] = larger(of_column[0], std::abs(static_cast<double>(*x.at(i, j))));
        of_column[1] = larger(of_column[1], std::abs(static_cast<double>(*b.at(i, j))));
        of_column[2] = larger(of_column[2], std::abs(static_cast<double>(*r.at(i, j))));
      }
    }
    for (double& norm : norms)
      norm = std::isnan(norm) ? std::numeric_limits<double>::infinity() : norm;
    MPI_Allreduce(MPI_IN_PLACE, norms.data(), static_cast<int>(norms.size()), MPI_DOUBLE, MPI_MAX,
                  grid.column_line);
    const double epsilon = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
    for (std::int64_t j = 0; j < x.columns; ++j) {
      const double* const of_column = norms.data() + 1 + 3 * j;
      const double scale =
          epsilon * static_cast<double>(n) * (norms[0] * of_column[0] + of_column[1]);
      const double ratio = of_column[2] == 0 ? 0 : of_column[2] / scale;
      residual =
          larger(residual, std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio);
    }
    MPI_Allreduce(MPI_IN_PLACE, &residual, 1, MPI_DOUBLE, MPI_MAX, grid.row_line);
  }
  MPI_Bcast(&residual, 1, MPI_DOUBLE, 0, grid.depth_line);
  return residual;
}

template class Solution<double>;
template class Solution<float>;
template std::int64_t firstZeroPivot(const ProcessGrid&, const torc_linalg_matrix&,
                                     const LocalMatrix<double>&);
template std::int64_t firstZeroPivot(const ProcessGrid&, const torc_linalg_matrix&,
                                     const LocalMatrix<float>&);
template double scaledResidual(const ProcessGrid&, const LocalMatrix<const double>&,
                               const LocalMatrix<const double>&, const LocalMatrix<const double>&,
                               const LocalMatrix<double>&, std::int64_t);
template double scaledResidual(const ProcessGrid&, const LocalMatrix<const float>&,
                               const LocalMatrix<const float>&, const LocalMatrix<const float>&,
                               const LocalMatrix<float>&, std::int64_t);

}  // namespace torc::linalg
