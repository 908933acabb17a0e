// Factors an outer block column of 2.5D LU, summed over the layers.
//
// The layers share its rows: those of a process row are distributed to them. So rows x layers
// processes have rows of it, and the factorization is two-dimensional on (rows x layers) x columns
// processes, panel by panel. For each panel:
//   - A tournament (linalg/lu/tournament.h) on each layer, then over the layers' results, finds the
//     pivot rows. A process that has all rows uses partial pivoting.
//   - Each process divides its rows by U, and L travels along rows of the grid.
//   - The pivot rows travel to all processes of their column, which solve for U, and update.
// Rows stay in place until the whole block column is done: each process moves its chosen rows
// before its others.
#ifndef TORC_LINALG_LU_PANEL_FACTORIZATION_H_
#define TORC_LINALG_LU_PANEL_FACTORIZATION_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "linalg/grid/cyclic.h"
#include "linalg/grid/messages.h"
#include "linalg/grid/process_grid.h"
#include "linalg/lu/lu_shape.h"
#include "linalg/lu/tournament.h"

namespace torc::linalg {

/// Position of a block column: columns `begin` to `end` of the matrix, and places in the local
/// matrix.
struct PanelPlace {
  std::int64_t begin = 0, end = 0;
  std::int64_t top = 0, below = 0;   // local rows from `begin`, and from `end`
  std::int64_t left = 0, right = 0;  // local columns from `begin`, and from `end`
  std::int64_t width() const { return end - begin; }
};

template <typename T>
class PanelFactorization {
 public:
  PanelFactorization(const ProcessGrid& grid, const LuShape& shape);

  /// Takes the work memory; may throw std::bad_alloc. Not collective.
  void allocate();

  /// Collective. Factors the block column, of which `share` has this process's rows and columns;
  /// the last panel's L is then in transit along rows. Ends early if numbers are not finite, or a
  /// pivot is zero without pivoting: on all processes at the same panel.
  void start(Messages& messages, const PanelPlace& place, const LocalMatrix<T>& share);
  void finish(Messages& messages);

  /// Requests of messages in transit.
  std::vector<MPI_Request>& underWay() { return under_way_; }

  /// Whether all numbers were finite, and the first column whose pivot is zero, or -1.
  bool finite() const { return finite_; }
  std::int64_t zeroColumn() const { return zero_column_; }
  /// Rows of the matrix, in the order of the pivots.
  const std::vector<std::int64_t>& winners() const { return winners_; }

  /// The order of the rows of `share`, which has L and U in place: rowAt()[y] was row y.
  const std::vector<std::int64_t>& rowAt() const { return row_at_; }
  /// L of the last panel, for the rows of the share not chosen before it; above its diagonal is U.
  LocalMatrix<T> l() const { return l_; }

 private:
  /// Columns `begin` to `end` of the matrix; the process row and column of its diagonal block; its
  /// first and end column in the share.
  struct Panel {
    std::int64_t begin, end;
    int row, column;
    std::int64_t left, right;
    std::int64_t width() const { return end - begin; }
  };
  /// Row `from` of the share, the pivot `winner` of a panel, is swapped with row `to`.
  struct Swap {
    std::int64_t to, from, winner;
  };

  Panel panelAt(std::int64_t begin) const;
  void factorPanel(Messages& messages, const Panel& panel);
  void factorAlone(const LocalMatrix<T>& rows);
  void holdTournament(Messages& messages, const Panel& panel, const LocalMatrix<T>& rows);
  void takeDiagonal(Messages& messages, const Panel& panel);
  void bringForward(const LocalMatrix<T>& columns);
  void findSwaps();
  std::int64_t setBytes(const Panel& panel) const;
  void spread(Messages& messages, const Panel& panel);
  void arrive(Messages& messages);
  void updateRest(Messages& messages, const Panel& panel);
  LocalMatrix<T> gatherRows(Messages& messages, const std::int64_t* winners, std::int64_t count,
                            const LocalMatrix<T>& columns);

  bool alone() const { return grid_.rows * grid_.layers == 1; }
  bool stopped() const { return !finite_ || (zero_column_ >= 0 && !shape_.pivoting); }
  Candidates<T> factors() { return Candidates<T>(factors_.data()); }
  /// The row of the matrix at a place.
  std::int64_t rowOf(std::int64_t place) const {
    return rows_.global(grid_.row, place_.top + place * grid_.layers + grid_.layer);
  }

  const ProcessGrid& grid_;
  const LuShape shape_;
  const Cyclic rows_, columns_;
  PanelPlace place_;
  Panel panel_ = {};  // the last factored one
  LocalMatrix<T> share_, l_;
  std::int64_t chosen_ = 0;            // pivot rows in the share
  std::vector<std::int64_t> places_;   // of the rows of the share
  std::vector<std::int64_t> row_at_;   // the row of the share at a place
  std::vector<Swap> swaps_;            // of the last panel
  std::vector<std::int64_t> factors_;  // a set of candidates, followed by L of a panel
  std::vector<std::int64_t> best_;
  std::vector<T> own_rows_, line_rows_, all_rows_, u_;
  std::vector<MPI_Request> under_way_;
  std::vector<std::int64_t> winners_;
  bool finite_ = true;
  std::int64_t zero_column_ = -1;
};

}  // namespace torc::linalg

#endif  // TORC_LINALG_LU_PANEL_FACTORIZATION_H_
