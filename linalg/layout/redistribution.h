// Copies a matrix from one block-cyclic layout to another, on other processes, or transposed, like
// pdgemr2d, in exchanges of bounded size.
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
  std::int64_t row = 0, column = 0;  // begin of the part in it
  bool row_major = true;
  bool transposed = false;  // the part is the transpose of the copied matrix
  T* data = nullptr;        // local, by columns
  std::int64_t leading = 1;
  const std::vector<int>* ranks = nullptr;  // of the processes; null: the first ones

  int processes() const { return rows.processes * columns.processes; }
};

/// Copies `rows` x `columns` elements from one placement to the other.
template <typename T>
class Redistribution {
 public:
  /// All members but `data` and `leading` are equal on all of `comm`.
  Redistribution(MPI_Comm comm, const Placement<T>& from, const Placement<T>& to, std::int64_t rows,
                 std::int64_t columns);

  /// Takes the work memory; may throw std::bad_alloc. Not collective.
  void allocate();

  /// Collective over `comm`.
  void run();

 private:
  /// Offsets of this process's lines (or columns) on one side, by the owner on the other side.
  using Offsets = std::vector<std::vector<std::int64_t>>;
  /// The outgoing or incoming data of one exchange.
  struct Half {
    Offsets lines, across;
    std::vector<T> elements;
    std::vector<int> counts, places;  // by rank
  };

  MPI_Comm comm_;
  Placement<T> from_, to_;
  std::int64_t rows_, columns_;
  std::int64_t step_ = 1;  // columns of one exchange
  Half sent_, received_;
};

}  // namespace torc::linalg

#endif  // TORC_LINALG_LAYOUT_REDISTRIBUTION_H_
