// Permutes rows of a distributed matrix: all exchanges of a panel of pivots, or a whole
// permutation, in one exchange among the processes of a column of the grid.
#ifndef TORC_LINALG_LU_ROW_EXCHANGE_H_
#define TORC_LINALG_LU_ROW_EXCHANGE_H_

#include <cstdint>
#include <vector>

#include "linalg/grid/cyclic.h"
#include "linalg/grid/messages.h"
#include "linalg/grid/process_grid.h"

namespace torc::linalg {

/// Row `from` of the matrix goes to `to`.
struct RowMove {
  std::int64_t to = 0, from = 0;
};

/// The exchanges that bring the rows `winners` to `first`, `first` + 1, ...: exchanges[i] is the
/// row exchanged with row first + i, in turn.
std::vector<std::int64_t> exchangesFor(std::int64_t first, const std::int64_t* winners,
                                       std::int64_t count);

/// The combined effect of the exchanges of rows first + i with exchanges[i], one after the other:
/// the moved rows, in the order of `to`.
std::vector<RowMove> movesOf(std::int64_t first, const std::int64_t* exchanges, std::int64_t count);

/// The columns whose rows move; `first_row` is the place of their first row in the local matrix.
template <typename T>
struct MovedColumns {
  LocalMatrix<T> matrix;
  std::int64_t first_row = 0;
};

/// Exchanges rows, with buffers for sent and received ones.
template <typename T>
class RowExchange {
 public:
  RowExchange(const ProcessGrid& grid, const Cyclic& rows) : grid_(grid), rows_(rows) {}

  /// Allocates buffers for `moves` rows of `columns` columns; may throw std::bad_alloc.
  void reserve(std::int64_t moves, std::int64_t columns);

  /// Collective over the column line of this process; the number of columns is equal on all of it.
  void run(Messages& messages, const std::vector<RowMove>& moves,
           const std::vector<MovedColumns<T>>& columns);

 private:
  const ProcessGrid& grid_;
  const Cyclic rows_;
  std::vector<T> sent_, received_;
};

}  // namespace torc::linalg

#endif  // TORC_LINALG_LU_ROW_EXCHANGE_H_
