// The operands of a multiplication.
#ifndef TORC_LINALG_MULTIPLY_GEMM_SHAPE_H_
#define TORC_LINALG_MULTIPLY_GEMM_SHAPE_H_

#include <cstdint>

#include "linalg/grid/layout.h"

namespace torc::linalg {

/// The descriptors of one multiplication.
struct GemmShape {
  torc_linalg_matrix a, b, c;
  std::int64_t panel = 256;  // most columns of a panel; or TORC_LINALG_CANNON

  bool byCannon() const { return panel == TORC_LINALG_CANNON; }

  /// Largest distance in k without a change of the owner of A's columns, or of B's rows: a single
  /// owner has all of them contiguously.
  std::int64_t blockOfA(int grid_columns) const;
  std::int64_t blockOfB(int grid_rows) const;

  /// Most columns of a panel.
  std::int64_t width(int grid_rows, int grid_columns) const;
};

/// TORC_LINALG_ERR_MISMATCH if sizes or blocks do not match.
void checkGemm(const GemmShape& shape);

}  // namespace torc::linalg

#endif  // TORC_LINALG_MULTIPLY_GEMM_SHAPE_H_
