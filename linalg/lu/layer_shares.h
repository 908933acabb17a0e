// What the layers of a grid sum and hand each other along the depth in 2.5D LU. Of a block column
// each has a share of the rows, dealt one by one; of a block row a share of the columns, in a row;
// of an update its thin panel: a share of the block column's columns, and of the block row's rows.
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

/// Functions are collective over the depth line of this process, on which sizes are the same.
template <typename T>
class LayerShares {
 public:
  explicit LayerShares(const ProcessGrid& grid) : grid_(grid) {}

  /// The layers' sum of `matrix`, of which this one gets the rows that are dealt to it, or a share
  /// of the columns.
  void sumDealtRows(Messages& messages, const LocalMatrix<T>& matrix, const LocalMatrix<T>& share);
  void sumColumns(Messages& messages, const LocalMatrix<T>& matrix, const LocalMatrix<T>& share);

  /// Each layer gets all rows of its thin panel of L, and layer 0 those of `panel`, too. The row
  /// that was dealt as the y-th is row_at[y] of `l` and `panel`.
  void spreadL(Messages& messages, const std::vector<std::int64_t>& row_at, const LocalMatrix<T>& l,
               const LocalMatrix<T>& panel, const LocalMatrix<T>& thin_l,
               const LocalMatrix<T>& whole_panel);

  /// Each layer gets all columns of its thin panel of U, and layer 0 those of `rows`, too.
  void spreadU(Messages& messages, const LocalMatrix<T>& u, const LocalMatrix<T>& rows,
               const LocalMatrix<T>& thin_u, const LocalMatrix<T>& whole_rows);

  /// Thin panels side by side, on every layer.
  void gatherThin(Messages& messages, const LocalMatrix<T>& thin, const LocalMatrix<T>& all);

 private:
  const ProcessGrid& grid_;
  std::vector<T> sent_, received_;
};

}  // namespace torc::linalg

#endif  // TORC_LINALG_LU_LAYER_SHARES_H_
