// 2.5D LU: P A = L U on a grid of layers. Solomonik, Bhatele, Demmel, SC 2011, sections 3.1.3
// and 3.1.4.
//
// Every layer keeps its own sum of updates of the matrix, the first also the matrix itself: the
// remaining matrix is the sum of all. It is factored by outer block columns. Steps for each, with
// the letters of the paper's Figure 3:
//   C  The block column is summed over the layers, of which each gets a share of the rows.
//   A  It is factored on all processes of its columns, panel by panel, by tournament pivoting
//      (linalg/lu/panel_factorization.h). Each layer gets all rows of L of its thin panel. Rows
//      change places late, in one exchange per block column; those of finished L at the end. The
//      block row is summed over the layers, too, of which each gets a share of the columns, and
//      solves for U there.
//   B  Each layer updates its sum with its thin panel of L and U. The next block column is updated
//      first, and factored before the rest: its last panel is in transit meanwhile.
// In one layer a block column is a panel. The words of a process, step after step, are n^2/sqrt(cP)
// for B and the panels, and n^2 c/P for the sums, if a block column spans all process columns:
// luWords() counts them.
#ifndef TORC_LINALG_LU_FACTORIZATION_H_
#define TORC_LINALG_LU_FACTORIZATION_H_

#include <cstdint>
#include <vector>

#include "linalg/failure.h"
#include "linalg/grid/messages.h"
#include "linalg/grid/process_grid.h"
#include "linalg/lu/layer_shares.h"
#include "linalg/lu/lu_shape.h"
#include "linalg/lu/panel_factorization.h"
#include "linalg/lu/row_exchange.h"

namespace torc::linalg {

/// One factorization of a matrix of square blocks; layers other than 0 have no part in `a`.
template <typename T>
class Factorization {
 public:
  Factorization(const ProcessGrid& grid, const LuShape& shape, const LocalMatrix<T>& a);

  /// Takes the work memory; may throw std::bad_alloc. Not collective.
  void allocate();

  /// Collective; returns the first column whose pivot is zero, or -1: with pivoting the factors are
  /// complete all the same. TORC_LINALG_NOT_FINITE on all ranks if there are infinities or NaN.
  std::int64_t run(Messages& messages, const Progress& progress);

  /// exchanges()[i] is the row exchanged with row i.
  const std::vector<std::int64_t>& exchanges() const { return exchanges_; }

 private:
  PanelPlace place(std::int64_t begin) const;
  void startPanel(Messages& messages, const PanelPlace& outer);
  void finishPanel(Messages& messages, const PanelPlace& outer);
  void exchangeRows(Messages& messages, const PanelPlace& outer);
  void exchangeRowsOfL(Messages& messages);
  std::vector<int> layersOf(const Cyclic& line, int process, std::int64_t begin, std::int64_t end,
                            const PanelPlace& outer) const;
  std::vector<int> ownersOf(const Cyclic& line, const PanelPlace& outer) const;
  void computeU(Messages& messages, const PanelPlace& outer);
  void solve(Messages& messages, const PanelPlace& outer, const LocalMatrix<T>& l,
             const LocalMatrix<T>& rows);
  /// `is_last`: this is the last block column.
  void update(Messages& messages, const PanelPlace& outer, bool is_last);

  const ProcessGrid& grid_;
  const Cyclic rows_, columns_;
  const LuShape shape_;
  const bool alone_;  // one process has all rows of a column: the order of rows is final
  LocalMatrix<T> a_;
  std::vector<T> sums_;  // the matrix of layers other than 0
  PanelFactorization<T> panel_;
  LayerShares<T> shares_;
  LocalMatrix<T> share_, thin_l_, thin_u_;  // of the block column
  std::vector<T> share_room_, own_l_room_, thin_l_room_, l_room_, rows_room_, u_room_, own_u_room_,
      thin_u_room_, room_;
  RowExchange<T> row_exchange_;
  std::vector<std::int64_t> exchanges_;
  std::vector<std::int64_t> begins_;  // of the block columns
};

}  // namespace torc::linalg

#endif  // TORC_LINALG_LU_FACTORIZATION_H_
