// The C API's solutions with LU factors, and their residuals.
#include <algorithm>
#include <string>

#include "linalg/api/api_call.h"
#include "linalg/api/gemm_call.h"
#include "linalg/api/lu_call.h"
#include "linalg/lu/solution.h"

namespace torc::linalg {
namespace {

std::string sizeText(const torc_linalg_matrix& m) {
  return std::to_string(m.rows) + " x " + std::to_string(m.columns);
}

/// Checks that A X = B, or A X - B, is defined: A square, in square blocks, and B with as many
/// rows, in equal blocks.
void checkSystem(const torc_linalg_matrix& a, const torc_linalg_matrix& b) {
  if (a.rows != a.columns || a.row_block != a.column_block)
    throw Failure{TORC_LINALG_ERR_MISMATCH,
                  "A is " + sizeText(a) + " in blocks of " + std::to_string(a.row_block) + " x " +
                      std::to_string(a.column_block) + ": both must be square"};
  if (b.rows != a.rows || b.row_block != a.row_block)
    throw Failure{TORC_LINALG_ERR_MISMATCH, "B is " + sizeText(b) + " with row blocks of " +
                                                std::to_string(b.row_block) + ", A " + sizeText(a) +
                                                " with blocks of " + std::to_string(a.row_block)};
}

void checkPivots(const std::int64_t* pivots, const torc_linalg_matrix& a) {
  for (std::int64_t i = 0; pivots != nullptr && i < a.rows; ++i) {
    if (pivots[i] < i || pivots[i] >= a.rows)
      throw Failure{TORC_LINALG_ERR_ARGUMENT, "pivots[" + std::to_string(i) + "] is " +
                                                  std::to_string(pivots[i]) + " of " +
                                                  std::to_string(a.rows) + " rows"};
  }
}

template <typename T>
void solve(const ProcessGrid& grid, const torc_linalg_matrix* matrix, const T* a, std::int64_t lda,
           const std::int64_t* pivots, const torc_linalg_matrix* b_matrix, T* b, std::int64_t ldb,
           const torc_linalg_options* given) {
  const Options options(given);
  LocalMatrix<T> local_a, local_b;
  SameArguments same = {{"pivots (a hash of them)", pivots == nullptr ? 0 : 1}};
  addMatrix(same, matrix, "the descriptor of A");
  addMatrix(same, b_matrix, "the descriptor of B");
  options.addTo(same);
  const auto check = [&] {
    // The factors are only read.
    local_a = localMatrix(grid, matrix, const_cast<T*>(a), lda, "A");
    local_b = localMatrix(grid, b_matrix, b, ldb, "B");
    checkSystem(*matrix, *b_matrix);
    checkPivots(pivots, *matrix);
    std::uint64_t hash = pivots == nullptr ? 0 : 1;
    for (std::int64_t i = 0; pivots != nullptr && i < matrix->rows; ++i)
      hash = hash * 6364136223846793005u + static_cast<std::uint64_t>(pivots[i]);
    same[0].second = static_cast<std::int64_t>(hash);
  };
  agree(grid.all, check, same);
  checkPivot(firstZeroPivot(grid, *matrix, local_a));

  Solution<T> solution(grid, *matrix, local_a, *b_matrix, local_b);
  agree(grid.all, [&] {
    if (grid.layer == 0) solution.allocate();
  });
  Messages messages(options.barriers);
  if (grid.layer == 0) solution.run(messages, pivots, options.progress);
  MPI_Barrier(grid.depth_line);
  report(options, messages);
}

template <typename T>
void residualOf(const ProcessGrid& grid, const torc_linalg_matrix* matrix, const T* a,
                std::int64_t lda, const torc_linalg_matrix* b_matrix, const T* x, std::int64_t ldx,
                const T* b, std::int64_t ldb, double* residual) {
  LocalMatrix<const T> local_a, local_x, local_b;
  std::vector<T> room;
  LocalMatrix<T> r;
  const auto check = [&] {
    local_a = localMatrix(grid, matrix, a, lda, "A");
    local_x = localMatrix(grid, b_matrix, x, ldx, "X");
    local_b = localMatrix(grid, b_matrix, b, ldb, "B");
    checkSystem(*matrix, *b_matrix);
    if (residual == nullptr) throw Failure{TORC_LINALG_ERR_ARGUMENT, "residual is null"};
    r = matrixIn(room, local_b.rows, local_b.columns);
  };
  SameArguments same;
  addMatrix(same, matrix, "the descriptor of A");
  addMatrix(same, b_matrix, "the descriptor of B");
  agree(grid.all, check, same);
  for (std::int64_t j = 0; j < r.columns; ++j)
    std::copy_n(local_b.at(0, j), r.rows, r.at(0, j));
  gemm<T>(grid, T{-1}, matrix, a, lda, b_matrix, x, ldx, T{1}, b_matrix, r.data, r.leading,
          nullptr);
  *residual = scaledResidual(grid, local_a, local_x, local_b, r, matrix->rows);
}

}  // namespace
}  // namespace torc::linalg

using namespace torc::linalg;

int torc_linalg_dlu_solve(torc_linalg_grid* grid, const torc_linalg_matrix* matrix, const double* a,
                          int64_t lda, const int64_t* pivots, const torc_linalg_matrix* b_matrix,
                          double* b, int64_t ldb, const torc_linalg_options* options) {
  return onGrid(grid, solve<double>, matrix, a, lda, pivots, b_matrix, b, ldb, options);
}

int torc_linalg_slu_solve(torc_linalg_grid* grid, const torc_linalg_matrix* matrix, const float* a,
                          int64_t lda, const int64_t* pivots, const torc_linalg_matrix* b_matrix,
                          float* b, int64_t ldb, const torc_linalg_options* options) {
  return onGrid(grid, solve<float>, matrix, a, lda, pivots, b_matrix, b, ldb, options);
}

int torc_linalg_dresidual(torc_linalg_grid* grid, const torc_linalg_matrix* matrix, const double* a,
                          int64_t lda, const torc_linalg_matrix* b_matrix, const double* x,
                          int64_t ldx, const double* b, int64_t ldb, double* residual) {
  return onGrid(grid, residualOf<double>, matrix, a, lda, b_matrix, x, ldx, b, ldb, residual);
}

int torc_linalg_sresidual(torc_linalg_grid* grid, const torc_linalg_matrix* matrix, const float* a,
                          int64_t lda, const torc_linalg_matrix* b_matrix, const float* x,
                          int64_t ldx, const float* b, int64_t ldb, double* residual) {
  return onGrid(grid, residualOf<float>, matrix, a, lda, b_matrix, x, ldx, b, ldb, residual);
}
