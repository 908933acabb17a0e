// Solves with LU factors, and computes the residual of a solution.
#ifndef TORC_LINALG_LU_SOLUTION_H_
#define TORC_LINALG_LU_SOLUTION_H_

#include <cstdint>
#include <vector>

#include "linalg/failure.h"
#include "linalg/grid/layout.h"
#include "linalg/grid/messages.h"
#include "linalg/grid/process_grid.h"

namespace torc::linalg {

/// Solves A X = B in place of B on one layer, the grid's layer 0; only its processes call it.
///
/// Right-hand sides are taken in groups. For a group every process keeps sums: of its rows of B,
/// and of products to subtract from them. Block by block the sums of a process row are reduced onto
/// the diagonal's process, which solves for the block's unknowns. It broadcasts them along its
/// column, where each process adds its products. Words per process: 2 n per right-hand side, and (n
/// / rows).
template <typename T>
class Solution {
 public:
  Solution(const ProcessGrid& grid, const torc_linalg_matrix& matrix, const LocalMatrix<T>& factors,
           const torc_linalg_matrix& b_matrix, const LocalMatrix<T>& b);

  /// Takes the work memory; may throw std::bad_alloc. Not collective.
  void allocate();

  /// `exchanges` come from Factorization, or null: no pivoting.
  void run(Messages& messages, const std::int64_t* exchanges, const Progress& progress);

 private:
  void solveGroup(Messages& messages, std::int64_t begin, std::int64_t end);
  void solveBlock(Messages& messages, std::int64_t begin, bool lower, std::int64_t group);

  const ProcessGrid& grid_;
  const Cyclic rows_, columns_, sides_;
  LocalMatrix<T> factors_, b_;
  std::vector<T> sums_, block_, room_;
};

/// The first zero on the diagonal of U, stored in `factors` on layer 0, or -1. Collective over the
/// grid.
template <typename T>
std::int64_t firstZeroPivot(const ProcessGrid& grid, const torc_linalg_matrix& matrix,
                            const LocalMatrix<T>& factors);

/// HPL's scaled residual, given R = B - A X; equal on all ranks. Collective over the grid.
template <typename T>
double scaledResidual(const ProcessGrid& grid, const LocalMatrix<const T>& a,
                      const LocalMatrix<const T>& x, const LocalMatrix<const T>& b,
                      const LocalMatrix<T>& r, std::int64_t n);

}  // namespace torc::linalg

#endif  // TORC_LINALG_LU_SOLUTION_H_
