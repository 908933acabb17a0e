// Copying a matrix from one block-cyclic layout to another, on other processes, or transposed: what
// pdgemr2d does, in exchanges of bounded size.
#ifndef TORC_LINALG_LAYOUT_REDISTRIBUTION_H_
#define TORC_LINALG_LAYOUT_REDISTRIBUTION_H_

#include <cstdint>
#include <vector>

#include <mpi.h>

#include "linalg/grid/cyclic.h"
#include "linalg/grid/messages.h"

namespace torc::linalg {

/// A part of a matrix on some of the processes of a communicator: rows.processes x
/// columns.processes, in row-major or column-major order.
template <typename T>
struct Placement {
  Cyclic rows, columns;              // of the whole matrix
  std::int64_t row = 0, column = 0;  // where the part begins in it
  bool row_major = true;
  bool transposed = false;  // the part is the transpose of what is copied
  T* data = nullptr;        // local, by columns
  std::int64_t leading = 1;
  const std::vector<int>* ranks = nullptr;  // of the processes; null: the first ones

  /// How many processes it is on.
  int processes() const { return rows.processes * columns.processes; }
};

/// Copies `rows` x `columns` elements from one placement to the other. Collective over `comm`; all
/// but `data` and `leading` is the same on all of it. May throw std::bad_alloc.
template <typename T>
void redistribute(MPI_Comm comm, const Placement<const T>& from, const Placement<T>& to,
                  std::int64_t rows, std::int64_t columns);

}  // namespace torc::linalg

#endif  // TORC_LINALG_LAYOUT_REDISTRIBUTION_H_
