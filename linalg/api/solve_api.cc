// The C API's solutions with LU factors, and their residuals.
#include <algorithm>
#include <string>

#include "linalg/api/api_call.h"
#include "linalg/api/gemm_call.h"
#include "linalg/lu/solution.h"

namespace torc::linalg {
namespace {

std::string sizeText(const torc_linalg_matrix& m) {
  return std::to_string(m.rows) + " x " + std::to_string(m.columns);
}

/// Checks that A X = B, or A X - B, is defined: A square, in square blocks, and B with as many
/// rows, in equal blocks.
Status checkSystem(const torc_linalg_matrix& a, const torc_linalg_matrix& b) {
  if (a.rows != a.columns || a.row_block != a.column_block)
    return failure(TORC_LINALG_ERR_MISMATCH,
                   "A is " + sizeText(a) + " in blocks of " + std::to_string(a.row_block) + " x " +
                       std::to_string(a.column_block) + ": both must be square");
  if (b.rows != a.rows || b.row_block != a.row_block)
    return failure(TORC_LINALG_ERR_MISMATCH,
                   "B is " + sizeText(b) + " with row blocks of " + std::to_string(b.row_block) +
                       ", A " + sizeText(a) + " with blocks of " + std::to_string(a.row_block));
  return {};
}

Status checkPivots(const std::int64_t* pivots, const torc_linalg_matrix& a) {
  for (std::int64_t i = 0; pivots != nullptr && i < a.rows; ++i) {
    if (pivots[i] < i || pivots[i] >= a.rows)
      return failure(TORC_LINALG_ERR_ARGUMENT, "pivots[" + std::to_string(i) + "] is " +
                                                   std::to_string(pivots[i]) + " of " +
                                                   std::to_string(a.rows) + " rows");
  }
  return {};
}

template <typename T>
Status solve(const ProcessGrid& grid, const torc_linalg_matrix* matrix, const T* a,
             std::int64_t lda, const std::int64_t* pivots, const torc_linalg_matrix* b_matrix, T* b,
             std::int64_t ldb, const torc_linalg_options* given) {
  const Options options(given);
  LocalMatrix<T> local_a, local_b;
  // The factors are only read.
  Status own = firstOf({localMatrix(grid, matrix, const_cast<T*>(a), lda, "A", &local_a),
                        localMatrix(grid, b_matrix, b, ldb, "B", &local_b)});
  if (own.ok()) own = firstOf({checkSystem(*matrix, *b_matrix), checkPivots(pivots, *matrix)});
  std::int64_t hash = pivots == nullptr ? 0 : 1;
  for (std::int64_t i = 0; own.ok() && pivots != nullptr && i < matrix->rows; ++i)
    hash = static_cast<std::int64_t>(static_cast<std::uint64_t>(hash) * 6364136223846793005u +
                                     static_cast<std::uint64_t>(pivots[i]));
  SameArguments same = {{"pivots (a hash of them)", hash}};
  addMatrix(same, matrix, "the descriptor of A");
  addMatrix(same, b_matrix, "the descriptor of B");
  options.addTo(same);
  if (Status status = agree(grid.all, own, same); !status.ok()) return status;
  if (const std::int64_t zero = firstZeroPivot(grid, *matrix, local_a); zero >= 0)
    return failure(TORC_LINALG_SINGULAR,
                   "the pivot of column " + std::to_string(zero) + " is zero");

  Solution<T> solution(grid, *matrix, local_a, *b_matrix, local_b);
  if (Status status = allocated(grid.all,
                                [&] {
                                  if (grid.layer == 0) solution.allocate();
                                });
      !status.ok())
    return status;
  Messages messages(options.barriers);
  if (grid.layer == 0) solution.run(messages, pivots, options.progress);
  MPI_Barrier(grid.depth_line);
  report(options, messages);
  return {};
}

template <typename T>
Status residualOf(const ProcessGrid& grid, const torc_linalg_matrix* matrix, const T* a,
                  std::int64_t lda, const torc_linalg_matrix* b_matrix, const T* x,
                  std::int64_t ldx, const T* b, std::int64_t ldb, double* residual) {
  LocalMatrix<const T> local_a, local_x, local_b;
  Status own = firstOf({localMatrix(grid, matrix, a, lda, "A", &local_a),
                        localMatrix(grid, b_matrix, x, ldx, "X", &local_x),
                        localMatrix(grid, b_matrix, b, ldb, "B", &local_b)});
  if (own.ok()) own = checkSystem(*matrix, *b_matrix);
  if (own.ok() && residual == nullptr) own = failure(TORC_LINALG_ERR_ARGUMENT, "residual is null");
  std::vector<T> room;
  if (own.ok())
    own = contained([&]() -> Status {
      room.resize(static_cast<std::size_t>(local_b.rows * local_b.columns));
      return {};
    });
  SameArguments same;
  addMatrix(same, matrix, "the descriptor of A");
  addMatrix(same, b_matrix, "the descriptor of B");
  if (Status status = agree(grid.all, own, same); !status.ok()) return status;

  const LocalMatrix<T> r{room.data(), local_b.rows, local_b.columns,
                         std::max<std::int64_t>(1, local_b.rows)};
  for (std::int64_t j = 0; j < r.columns; ++j)
    std::copy_n(local_b.at(0, j), r.rows, r.at(0, j));
  if (Status status = gemm<T>(grid, T{-1}, matrix, a, lda, b_matrix, x, ldx, T{1}, b_matrix, r.data,
                              r.leading, nullptr);
      !status.ok())
    return status;
  *residual = scaledResidual(grid, local_a, local_x, local_b, r, matrix->rows);
  return {};
}

}  // namespace
}  // namespace torc::linalg

using namespace torc::linalg;

int torc_linalg_dlu_solve(torc_linalg_grid* grid, const torc_linalg_matrix* matrix, const double* a,
                          int64_t lda, const int64_t* pivots, const torc_linalg_matrix* b_matrix,
                          double* b, int64_t ldb, const torc_linalg_options* options) {
  return guarded(grid, [&](const ProcessGrid& g) {
    return solve(g, matrix, a, lda, pivots, b_matrix, b, ldb, options);
  });
}

int torc_linalg_slu_solve(torc_linalg_grid* grid, const torc_linalg_matrix* matrix, const float* a,
                          int64_t lda, const int64_t* pivots, const torc_linalg_matrix* b_matrix,
                          float* b, int64_t ldb, const torc_linalg_options* options) {
  return guarded(grid, [&](const ProcessGrid& g) {
    return solve(g, matrix, a, lda, pivots, b_matrix, b, ldb, options);
  });
}

int torc_linalg_dresidual(torc_linalg_grid* grid, const torc_linalg_matrix* matrix, const double* a,
                          int64_t lda, const torc_linalg_matrix* b_matrix, const double* x,
                          int64_t ldx, const double* b, int64_t ldb, double* residual) {
  return guarded(grid, [&](const ProcessGrid& g) {
    return residualOf(g, matrix, a, lda, b_matrix, x, ldx, b, ldb, residual);
  });
}

int torc_linalg_sresidual(torc_linalg_grid* grid, const torc_linalg_matrix* matrix, const float* a,
                          int64_t lda, const torc_linalg_matrix* b_matrix, const float* x,
                          int64_t ldx, const float* b, int64_t ldb, double* residual) {
  return guarded(grid, [&](const ProcessGrid& g) {
    return residualOf(g, matrix, a, lda, b_matrix, x, ldx, b, ldb, residual);
  });
}
