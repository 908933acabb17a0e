// Sums and exchanges between the layers of a grid, along the depth, in 2.5D LU. Each layer has a
// share of the rows of a block column, and of the columns of a block row. For an update the columns
// of the block column, and the rows of the block row, are distributed to the layers: the thin
// panels.
#ifndef TORC_LINALG_LU_LAYER_SHARES_H_
#define TORC_LINALG_LU_LAYER_SHARES_H_

#include <cstdint>
#include <vector>

#include "linalg/grid/messages.h"
#include "linalg/grid/process_grid.h"

namespace torc::linalg {

/// A range, `begin` to `end`.
struct Share {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
};

/// The share of `layer` in `count` consecutive items.
inline Share shareOf(std::int64_t count, int layers, int layer) {
  return {count * layer / layers, count * (layer + 1) / layers};
}

/// The number of items that `layer` gets of `count` items in cyclic distribution: its y-th is item
/// y * layers + layer.
inline std::int64_t dealtTo(std::int64_t count, int layers, int layer) {
  return (count - layer + layers - 1) / layers;
}

/// Functions are collective over the depth line of this process, unless they name another; sizes
/// are equal on it.
template <typename T>
class LayerShares {
 public:
  explicit LayerShares(const ProcessGrid& grid) : grid_(grid) {}

  /// The layers' sum of `matrix`; this layer gets its rows of a cyclic distribution, or a share of
  /// the columns.
  void sumDealtRows(Messages& messages, const LocalMatrix<T>& matrix, const LocalMatrix<T>& share);
  void sumColumns(Messages& messages, const LocalMatrix<T>& matrix, const LocalMatrix<T>& share);

  /// The rows of `from` in the order of distribution: the y-th is row_at[y].
  static void order(const std::vector<std::int64_t>& row_at, const LocalMatrix<T>& from, T* to);

  /// Gives each layer all rows of its columns of `share`, by `layer_of`, in `own`, and layer 0 all
  /// columns in `whole`. Rows of `share` are as for order().
  void spreadColumns(Messages& messages, const std::vector<std::int64_t>& row_at,
                     const LocalMatrix<T>& share, const std::vector<int>& layer_of,
                     const LocalMatrix<T>& own, const LocalMatrix<T>& whole);

  /// Gives each layer all columns of its rows of `share`, and layer 0 all rows.
  void spreadRows(Messages& messages, const LocalMatrix<T>& share, const std::vector<int>& layer_of,
                  const LocalMatrix<T>& own, const LocalMatrix<T>& whole);

  /// Gathers the columns of a thin panel along the row of the grid; column x comes from process
  /// owner[x], which has its own in this order.
  void gatherColumns(Messages& messages, const LocalMatrix<T>& own, const std::vector<int>& owner,
                     const LocalMatrix<T>& thin);
  /// Gathers the rows of a thin panel along the column of the grid.
  void gatherRows(Messages& messages, const LocalMatrix<T>& own, const std::vector<int>& owner,
                  const LocalMatrix<T>& thin);

  /// Gathers the thin panels of all layers on each: column x of layer l is number x * layers + l.
  void gatherThin(Messages& messages, const LocalMatrix<T>& thin, const LocalMatrix<T>& all);

 private:
  const ProcessGrid& grid_;
  std::vector<T> sent_, received_;
};

}  // namespace torc::linalg

#endif  // TORC_LINALG_LU_LAYER_SHARES_H_
