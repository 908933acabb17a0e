// 2.5D SUMMA: C := alpha A B + beta C. Solomonik, Bhatele, Demmel, SC 2011, section 3.1.2,
// algorithm 1.
//
// A and B are broadcast from layer 0 along the depth of the grid. Each layer multiplies its share
// of k: for each panel of it, columns of A travel along rows of the layer and rows of B along its
// columns, the next ones while the current ones are multiplied. The layers' sums are reduced onto
// layer 0.
#ifndef TORC_LINALG_MULTIPLY_SUMMA_H_
#define TORC_LINALG_MULTIPLY_SUMMA_H_

#include <cstdint>
#include <vector>

#include "linalg/grid/layout.h"
#include "linalg/grid/messages.h"
#include "linalg/grid/process_grid.h"
#include "linalg/multiply/gemm_shape.h"

namespace torc::linalg {

/// The unit of communication: `begin` to `end` of k, on one process column of A and one row of B.
struct Panel {
  std::int64_t begin = 0, end = 0;
};

/// The panels of `layer`: of at most `width`, cut at changes of the owner, and at the ends of
/// layers' shares. The layers share k evenly.
std::vector<Panel> panelsOfLayer(std::int64_t k, std::int64_t block_of_a, std::int64_t block_of_b,
                                 std::int64_t width, int layers, int layer);

/// Largest memory of a process in bytes: matrices and workspace.
double gemmMemory(int rows, int columns, int layers, const GemmShape& shape, int element);

/// Most words that a process receives, or contributes to a sum: 2 n^2/sqrt(cP) + 3 n^2 c/P if
/// everything is square.
double gemmWords(int rows, int columns, int layers, const GemmShape& shape);

/// One multiplication. The local matrices of layers other than 0 are empty. Collective.
template <typename T>
class Summa {
 public:
  Summa(const ProcessGrid& grid, const GemmShape& shape, T alpha, const LocalMatrix<T>& a,
        const LocalMatrix<T>& b, T beta, const LocalMatrix<T>& c);

  /// Takes the work memory; may throw std::bad_alloc. Not collective.
  void allocate();

  void run(Messages& messages, const Progress& progress);

 private:
  /// A panel of A and one of B, in transit or received.
  struct Slot {
    std::vector<T> a_room, b_room;
    LocalMatrix<T> a, b;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  };

  void replicate(Messages& messages);
  void post(Messages& messages, const Panel& panel, Slot& slot);
  void multiply(Messages& messages, Slot& current, Slot* next);

  const ProcessGrid& grid_;
  const GemmShape shape_;
  const Cyclic a_columns_, b_rows_;
  const T alpha_, beta_;
  LocalMatrix<T> a_, b_;
  LocalMatrix<T> c_;
  std::vector<Panel> panels_;
  std::vector<T> a_copy_, b_copy_, c_sum_, room_;
  Slot slots_[2];
};

}  // namespace torc::linalg

#endif  // TORC_LINALG_MULTIPLY_SUMMA_H_
