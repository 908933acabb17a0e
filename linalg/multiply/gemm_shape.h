// What is multiplied.
#ifndef TORC_LINALG_MULTIPLY_GEMM_SHAPE_H_
#define TORC_LINALG_MULTIPLY_GEMM_SHAPE_H_

#include <cstdint>

#include "linalg/grid/layout.h"
#include "linalg/status.h"

namespace torc::linalg {

/// The descriptors of one multiplication.
struct GemmShape {
  torc_linalg_matrix a, b, c;
  std::int64_t panel = 256;  // most columns of one; TORC_LINALG_CANNON

  bool byCannon() const { return panel == TORC_LINALG_CANNON; }

  /// How far k goes on without another owner of A's columns, or of B's rows: a process that has all
  /// of them has them side by side.
  std::int64_t blockOfA(int grid_columns) const;
  std::int64_t blockOfB(int grid_rows) const;

  /// Columns of a panel, at most.
  std::int64_t width(int grid_rows, int grid_columns) const;
};

/// TORC_LINALG_ERR_MISMATCH where sizes or blocks do not fit each other.
Status checkGemm(const GemmShape& shape);

}  // namespace torc::linalg

#endif  // TORC_LINALG_MULTIPLY_GEMM_SHAPE_H_
