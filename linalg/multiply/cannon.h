// Cannon's algorithm, 2-D and 2.5D: C := alpha A B + beta C on square layers of s x s processes. L.
// E. Cannon, "A Cellular Computer to Implement the Kalman Filter Algorithm", 1969; 2.5D: Solomonik,
// Demmel, "Communication-Optimal Parallel 2.5D Matrix Multiplication and LU Factorization
// Algorithms", Euro-Par 2011, algorithm 2.
//
// The indices of k are in s sets: set j has the indices of A's column j, and of B's row j. In step
// t process (r, q) multiplies the parts of set (r + q + t) mod s. Between steps A moves from the
// column to the right and B from the row below: neighbours on a torus. Each layer has a share of
// the s steps, which begins with a skew: A moves along rows, B along columns, to the places of the
// layer's first step. Messages are a process's whole part of A or B; there are no multicasts within
// a layer.
#ifndef TORC_LINALG_MULTIPLY_CANNON_H_
#define TORC_LINALG_MULTIPLY_CANNON_H_

#include <vector>

#include "linalg/grid/layout.h"
#include "linalg/grid/messages.h"
#include "linalg/grid/process_grid.h"
#include "linalg/multiply/gemm_shape.h"

namespace torc::linalg {

/// TORC_LINALG_ERR_GRID if layers are not square; TORC_LINALG_ERR_MISMATCH if the blocks of A and B
/// along k differ, so that columns of A and rows of B are in different sets.
void checkCannon(int rows, int columns, const GemmShape& shape);

/// Largest memory of a process in bytes: matrices and workspace.
double cannonMemory(int rows, int columns, int layers, const GemmShape& shape, int element);

/// Most words that a process receives, or contributes to a sum: 2 n^2/sqrt(cP) + 3 n^2 c/P if
/// everything is square and layers divide the steps.
double cannonWords(int rows, int columns, int layers, const GemmShape& shape);

/// One multiplication. The local matrices of layers other than 0 are empty. Collective.
template <typename T>
class Cannon {
 public:
  Cannon(const ProcessGrid& grid, const GemmShape& shape, T alpha, const LocalMatrix<T>& a,
         const LocalMatrix<T>& b, T beta, const LocalMatrix<T>& c);

  /// Takes the work memory; may throw std::bad_alloc. Not collective.
  void allocate();

  void run(Messages& messages, const Progress& progress);

 private:
  /// Parts of A and B of a step, with adjacent buffers.
  struct Slot {
    std::vector<T> a_room, b_room;
    LocalMatrix<T> a, b;
  };

  /// The set that a process of a line has in step `t`.
  int setOf(int step) const { return (grid_.row + grid_.column + step) % grid_.columns; }
  void take(Slot& slot, int set) const;
  void replicate(Messages& messages);
  void post(const Slot& from, Slot& to, int step, int a_distance, int b_distance,
            MPI_Request* requests);

  const ProcessGrid& grid_;
  const Cyclic k_, rows_, columns_;
  const int begin_, end_;  // of the layer's steps
  const T alpha_, beta_;
  const LocalMatrix<T> a_, b_;
  LocalMatrix<T> c_;
  std::vector<T> c_sum_, room_;
  Slot slots_[2];
};

}  // namespace torc::linalg

#endif  // TORC_LINALG_MULTIPLY_CANNON_H_
