// Rows of a distributed matrix change places: all that a panel of pivots asks for, or a whole
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
/// row that row first + i is exchanged with, when its turn comes.
std::vector<std::int64_t> exchangesFor(std::int64_t first, const std::int64_t* winners,
                                       std::int64_t count);

/// What the exchanges of rows first + i with exchanges[i], one after the other, do in all: only
/// rows that move. In the order of `to`.
std::vector<RowMove> movesOf(std::int64_t first, const std::int64_t* exchanges, std::int64_t count);

/// Columns of which rows move; `first_row` is the place of their first row in the local matrix.
template <typename T>
struct MovedColumns {
  LocalMatrix<T> matrix;
  std::int64_t first_row = 0;
};

/// Exchanges of rows, and the room for what is sent and received.
template <typename T>
class RowExchange {
 public:
  RowExchange(const ProcessGrid& grid, const Cyclic& rows) : grid_(grid), rows_(rows) {}

  /// Takes the room for `moves` rows of `columns` columns; may throw std::bad_alloc.
  void reserve(std::int64_t moves, std::int64_t columns);

  /// Collective over the column line of this process; the number of columns is the same on all of
  /// it.
  void run(Messages& messages, const std::vector<RowMove>& moves,
           const std::vector<MovedColumns<T>>& columns);

 private:
  const ProcessGrid& grid_;
  const Cyclic rows_;
  std::vector<T> sent_, received_;
};

}  // namespace torc::linalg

#endif  // TORC_LINALG_LU_ROW_EXCHANGE_H_
