// Local multiplications that overlap with messages.
#ifndef TORC_LINALG_LOCAL_OVERLAP_H_
#define TORC_LINALG_LOCAL_OVERLAP_H_

#include <algorithm>
#include <cstdint>

#include <mpi.h>

#include "linalg/grid/messages.h"
#include "linalg/local/blas.h"

namespace torc::linalg {

/// Columns of C that are multiplied between two tests of the active requests: MPI makes progress
/// only inside its functions.
inline constexpr std::int64_t kSliceColumns = 384;

/// C := beta C; C is not read if beta is 0.
template <typename T>
void scale(T beta, const LocalMatrix<T>& c) {
  if (beta == 1) return;
  for (std::int64_t j = 0; j < c.columns; ++j) {
    for (std::int64_t i = 0; i < c.rows; ++i)
      *c.at(i, j) = beta == 0 ? T{0} : *c.at(i, j) * beta;
  }
}

/// C += alpha A B, with tests of `requests` unless all of them are null.
template <typename T>
void multiplyAddBeside(Messages& messages, MPI_Request* requests, int count, T alpha,
                       const LocalMatrix<T>& a, const LocalMatrix<T>& b, const LocalMatrix<T>& c) {
  const bool under_way = std::any_of(
      requests, requests + count, [](MPI_Request request) { return request != MPI_REQUEST_NULL; });
  const std::int64_t step = under_way ? kSliceColumns : std::max<std::int64_t>(1, c.columns);
  for (std::int64_t j = 0; j < c.columns; j += step) {
    const std::int64_t columns = std::min(step, c.columns - j);
    multiplyAdd(alpha, a, b.part(0, j, b.rows, columns), c.part(0, j, c.rows, columns));
    if (under_way && j + columns < c.columns) {
      messages.inMpi([&] {
        int done = 0;
        MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
      });
    }
  }
}

}  // namespace torc::linalg

#endif  // TORC_LINALG_LOCAL_OVERLAP_H_
