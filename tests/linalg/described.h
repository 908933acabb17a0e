// Matrices with ScaLAPACK's descriptors.
#ifndef TORC_TESTS_LINALG_DESCRIBED_H_
#define TORC_TESTS_LINALG_DESCRIBED_H_

#include <algorithm>
#include <vector>

#include "linalg/run/scalapack.h"
#include "tests/linalg/job.h"

namespace torc::linalg {

/// A process's part of a ScaLAPACK matrix, whose first block is on process (first_row,
/// first_column). Ranks beyond the grid of BLACS have none.
template <typename T = double>
class Described {
 public:
  Described(const torc_linalg_blacs& blacs, int context, int m, int n, int row_block,
            int column_block, int first_row, int first_column, const Formula& formula)
      : blacs_(blacs) {
    const int rank = worldRank();
    const bool row_major = blacs.order == 'R';
    has_part = rank < blacs.rows * blacs.columns;
    row_ = row_major ? rank / blacs.columns : rank % blacs.rows;
    column_ = row_major ? rank % blacs.columns : rank / blacs.rows;
    const int rows = has_part ? numroc_(&m, &row_block, &row_, &first_row, &blacs.rows) : 0;
    const int columns =
        has_part ? numroc_(&n, &column_block, &column_, &first_column, &blacs.columns) : 0;
    const int entries[9] = {
        1, context, m, n, row_block, column_block, first_row, first_column, std::max(1, rows + 1)};
    std::copy(entries, entries + 9, desc);
    local.resize(static_cast<std::size_t>(desc[8]) * static_cast<std::size_t>(columns), -77);
    each([&](int i, int j, T& element) { element = static_cast<T>(formula(i, j)); });
  }

  /// Calls visit(row, column, element) for those of this process; indices from 0.
  template <typename Visit>
  void each(Visit&& visit) {
    if (!has_part) return;
    int column = 0;
    for (int j = 0; j < desc[3]; ++j) {
      if ((j / desc[5] + desc[7]) % blacs_.columns != column_) continue;
      int row = 0;
      for (int i = 0; i < desc[2]; ++i) {
        if ((i / desc[4] + desc[6]) % blacs_.rows == row_)
          visit(i, j, local[static_cast<std::size_t>(row++ + column * desc[8])]);
      }
      ++column;
    }
  }

  int desc[9];
  bool has_part = false;
  std::vector<T> local;

 private:
  const torc_linalg_blacs blacs_;
  int row_ = 0, column_ = 0;
};

}  // namespace torc::linalg

#endif  // TORC_TESTS_LINALG_DESCRIBED_H_
