// A part of a ScaLAPACK matrix, from the arguments of ScaLAPACK's functions.
#ifndef TORC_LINALG_API_SCALAPACK_PART_H_
#define TORC_LINALG_API_SCALAPACK_PART_H_

#include <cstdint>
#include <string>

#include "linalg/api/api_call.h"
#include "linalg/layout/redistribution.h"

namespace torc::linalg {

/// Indices of a descriptor's entries: ScaLAPACK Users' Guide, section 4.3.3.
enum DescriptorEntry {
  kType,
  kContext,
  kRows,
  kColumns,
  kRowBlock,
  kColumnBlock,
  kFirstRow,
  kFirstColumn,
  kLeading
};

/// Rows x columns of op(A(ia, ja ...)); indices from 1.
struct ScalapackPart {
  const torc_linalg_blacs* blacs = nullptr;
  char transposed = 'N';
  int ia = 1, ja = 1;
  const int* desc = nullptr;
  std::int64_t rows = 0, columns = 0;  // of op(A)
  std::string name;

  bool isTransposed() const {
    return transposed == 'T' || transposed == 't' || transposed == 'C' || transposed == 'c';
  }

  /// TORC_LINALG_ERR_ARGUMENT or _MISMATCH if the descriptor is invalid, or the part exceeds it.
  void check(const ProcessGrid& grid, const void* data) const;

  void addTo(SameArguments& same) const;

  template <typename T>
  Placement<T> placement(T* data) const {
    return {{desc[kRows], desc[kRowBlock], blacs->rows, desc[kFirstRow]},
            {desc[kColumns], desc[kColumnBlock], blacs->columns, desc[kFirstColumn]},
            ia - 1,
            ja - 1,
            blacs->order == 'R' || blacs->order == 'r',
            isTransposed(),
            data,
            desc[kLeading],
            nullptr};
  }
};

template <typename T>
Placement<T> placementOnGrid(const ProcessGrid& grid, const torc_linalg_matrix& matrix, T* data,
                             std::int64_t leading) {
  return {rowsOf(matrix, grid.rows),
          columnsOf(matrix, grid.columns),
          0,
          0,
          true,
          false,
          data,
          leading,
          grid.on_torus ? &grid.ranks : nullptr};
}

}  // namespace torc::linalg

#endif  // TORC_LINALG_API_SCALAPACK_PART_H_
