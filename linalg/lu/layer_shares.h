// What the layers of a grid sum and hand each other along the depth in 2.5D LU. Of a block column
// each has a share of the rows, of a block row a share of the columns. For an update the columns of
// the block column, and the rows of the block row, are dealt to the layers: the thin panels.
#ifndef TORC_LINALG_LU_LAYER_SHARES_H_
#define TORC_LINALG_LU_LAYER_SHARES_H_

#include <cstdint>
#include <vector>

#include "linalg/grid/messages.h"
#include "linalg/grid/process_grid.h"

namespace torc::linalg {

/// `begin` to `end` of things in a row.
struct Share {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
};

/// Of `count` things in a row the share of `layer`.
inline Share shareOf(std::int64_t count, int layers, int layer) {
  return {count * layer / layers, count * (layer + 1) / layers};
}

/// How many of `count` things, dealt one by one, `layer` gets: its y-th is number y * layers +
/// layer.
inline std::int64_t dealtTo(std::int64_t count, int layers, int layer) {
  return (count - layer + layers - 1) / layers;
}

/// Functions are collective over the depth line of this process, but for those that name another,
/// on which sizes are the same.
template <typename T>
class LayerShares {
 public:
  explicit LayerShares(const ProcessGrid& grid) : grid_(grid) {}

  /// The layers' sum of `matrix`, of which this one gets the rows that are dealt to it, or a share
  /// of the columns.
  void sumDealtRows(Messages& messages, const LocalMatrix<T>& matrix, const LocalMatrix<T>& share);
  void sumColumns(Messages& messages, const LocalMatrix<T>& matrix, const LocalMatrix<T>& share);

  /// The rows of `from` in the order in which they were dealt: the y-th is row_at[y].
  static void order(const std::vector<std::int64_t>& row_at, const LocalMatrix<T>& from, T* to);

  /// Each layer gets all rows of those columns of `share` that are dealt to it, by `layer_of`, in
  /// `own`, and layer 0 of all of them in `whole`. Rows of `share` are as for order().
  void spreadColumns(Messages& messages, const std::vector<std::int64_t>& row_at,
                     const LocalMatrix<T>& share, const std::vector<int>& layer_of,
                     const LocalMatrix<T>& own, const LocalMatrix<T>& whole);

  /// Each layer gets all columns of those rows of `share` that are dealt to it, and layer 0 of all.
  void spreadRows(Messages& messages, const LocalMatrix<T>& share, const std::vector<int>& layer_of,
                  const LocalMatrix<T>& own, const LocalMatrix<T>& whole);

  /// The columns of a thin panel along the row of the grid, column x from process owner[x], which
  /// has its own in this order.
  void gatherColumns(Messages& messages, const LocalMatrix<T>& own, const std::vector<int>& owner,
                     const LocalMatrix<T>& thin);
  /// The rows of a thin panel along the column of the grid.
  void gatherRows(Messages& messages, const LocalMatrix<T>& own, const std::vector<int>& owner,
                  const LocalMatrix<T>& thin);

  /// The thin panels of all layers on every one: column x of layer l's is number x * layers + l.
  void gatherThin(Messages& messages, const LocalMatrix<T>& thin, const LocalMatrix<T>& all);

 private:
  const ProcessGrid& grid_;
  std::vector<T> sent_, received_;
};

}  // namespace torc::linalg

#endif  // TORC_LINALG_LU_LAYER_SHARES_H_
