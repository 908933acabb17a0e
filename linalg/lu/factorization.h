// 2.5D LU: P A = L U on a grid of layers. Solomonik, Bhatele, Demmel, SC 2011, sections 3.1.3
// and 3.1.4.
//
// Every layer keeps its own sum of updates of the matrix, the first also the matrix itself: what is
// left to factor is the sum of all. A panel is a block column of the layout, or a part of one. Its
// steps, with the letters of the paper's Figure 3:
//   C  The panel's column is summed over the layers (allreduce on depth lines).
//   A  The pivot rows are found by a tournament on each layer, of which each has a share of the
//      panel's rows, then over the layers' best; layer 0 factors them, and the factors are
//      multicast along the depth, then on each layer. Rows change places, in one exchange. All
//      layers compute L. The rows of U are summed over the layers, and solved for.
//   B  Of the panel, each layer takes a thin panel, its share of the columns of L and rows of U,
//      and updates its sum with them: those travel along rows and columns of the layer. The next
//      panel is updated, started, and on its way along rows before the rest is updated.
// Words per process: n^2/sqrt(cP) for step B, and n^2 c/P for the sums, in all.
#ifndef TORC_LINALG_LU_FACTORIZATION_H_
#define TORC_LINALG_LU_FACTORIZATION_H_

#include <cstdint>
#include <vector>

#include "linalg/grid/layout.h"
#include "linalg/grid/messages.h"
#include "linalg/grid/process_grid.h"
#include "linalg/lu/row_exchange.h"
#include "linalg/status.h"

namespace torc::linalg {

struct LuShape {
  torc_linalg_matrix matrix;
  bool pivoting = true;
  std::int64_t panel = 256;  // most columns of a panel

  /// Columns of a panel, at most.
  std::int64_t width() const;
};

/// TORC_LINALG_ERR_ARGUMENT where blocks are not square, or a panel is too wide for a tournament.
Status checkLu(const LuShape& shape);

/// Bytes of a process that has most: its part of the matrix, and work.
double luMemory(int rows, int columns, int layers, const LuShape& shape, int element);

/// Words that a process receives, or gives to a sum, at most.
double luWords(int rows, int columns, int layers, const LuShape& shape);

/// One factorization of a matrix of square blocks; those of layers other than 0 have no part in
/// `a`.
template <typename T>
class Factorization {
 public:
  Factorization(const ProcessGrid& grid, const LuShape& shape, const LocalMatrix<T>& a);

  /// Takes the work memory; may throw std::bad_alloc. Not collective.
  void allocate();

  /// Collective; the same status on all ranks. SINGULAR: zeroColumn() has the pivot, and with
  /// pivoting the factors are complete.
  Status run(Messages& messages, const Progress& progress);

  /// exchanges()[i]: the row that row i was exchanged with.
  const std::vector<std::int64_t>& exchanges() const { return exchanges_; }
  std::int64_t zeroColumn() const { return zero_column_; }

 private:
  /// Where a panel is: columns `begin` to `end` of the matrix, and places in the local matrix.
  struct PanelPlace {
    std::int64_t begin, end;
    int row, column;           // of the grid, that has the diagonal block
    std::int64_t top, below;   // local rows from `begin`, and from `end`
    std::int64_t left, right;  // local columns from `begin`, and from `end`
    std::int64_t width() const { return end - begin; }
  };

  PanelPlace place(std::int64_t begin) const;
  /// Step C, and A up to the diagonal block's factors, which are then on their way along rows.
  void startPanel(Messages& messages, const PanelPlace& panel);
  void sumPanel(Messages& messages, const PanelPlace& panel);
  void holdTournament(Messages& messages, const PanelPlace& panel);
  void factorDiagonal(const PanelPlace& panel);
  void exchangeRows(Messages& messages, const PanelPlace& panel);
  void computeL(const PanelPlace& panel);
  void computeU(Messages& messages, const PanelPlace& panel);
  /// Step B. The columns of the next panel come first, and that panel is started before the others
  /// are updated, if this is not the last one.
  void update(Messages& messages, const PanelPlace& panel, bool is_last);

  const ProcessGrid& grid_;
  const Cyclic rows_, columns_;
  const LuShape shape_;
  LocalMatrix<T> a_;
  std::vector<T> sums_;  // the matrix of layers other than 0
  std::vector<T> panel_, thin_l_, u_, thin_u_, room_;
  std::vector<std::int64_t> factors_, best_;  // sets of candidates
  MPI_Request spreading_ = MPI_REQUEST_NULL;  // of factors_, along rows
  RowExchange<T> row_exchange_;
  std::vector<std::int64_t> exchanges_;
  std::int64_t zero_column_ = -1;
};

}  // namespace torc::linalg

#endif  // TORC_LINALG_LU_FACTORIZATION_H_
