// Cannon's algorithm, 2-D and 2.5D: C := alpha A B + beta C on square layers of s x s processes. L.
// E. Cannon, "A Cellular Computer to Implement the Kalman Filter Algorithm", 1969; 2.5D: Solomonik,
// Demmel, "Communication-Optimal Parallel 2.5D Matrix Multiplication and LU Factorization
// Algorithms", Euro-Par 2011, algorithm 2.
//
// The indices of k are in s sets: set j are those that column j has of A, and row j of B. In step t
// process (r, q) multiplies what there is of set (r + q + t) mod s. From a step to the next its A
// comes from the column to the right and its B from the row below: neighbours of a torus. Of s
// steps each layer has a share, which begins with a skew: A goes by rows, B by columns, to where
// the layer's first step wants it. What is sent is a process's whole part of A and of B; there are
// no multicasts within a layer.
#ifndef TORC_LINALG_MULTIPLY_CANNON_H_
#define TORC_LINALG_MULTIPLY_CANNON_H_

#include <vector>

#include "linalg/grid/layout.h"
#include "linalg/grid/messages.h"
#include "linalg/grid/process_grid.h"
#include "linalg/multiply/gemm_shape.h"

namespace torc::linalg {

/// TORC_LINALG_ERR_GRID where layers are not square; TORC_LINALG_ERR_MISMATCH where the blocks of A
/// and B along k differ, so that columns of A and rows of B are in different sets.
Status checkCannon(int rows, int columns, const GemmShape& shape);

/// Bytes of a process that has most: matrices and work.
double cannonMemory(int rows, int columns, int layers, const GemmShape& shape, int element);

/// Words that a process receives, or sends to a sum, at most: 2 n^2/sqrt(cP) + 3 n^2 c/P where all
/// is square and layers divide the steps.
double cannonWords(int rows, int columns, int layers, const GemmShape& shape);

/// One multiplication. The local matrices of layers other than 0 are empty. Collective.
template <typename T>
class Cannon {
 public:
  Cannon(const ProcessGrid& grid, const GemmShape& shape, T alpha, const LocalMatrix<const T>& a,
         const LocalMatrix<const T>& b, T beta, const LocalMatrix<T>& c);

  /// Takes the work memory; may throw std::bad_alloc. Not collective.
  void allocate();

  void run(Messages& messages, const Progress& progress);

 private:
  /// Parts of A and B of a step, side by side in rooms of their own.
  struct Slot {
    std::vector<T> a_room, b_room;
    LocalMatrix<T> a, b;
  };

  /// Whose part a process of a line has in step `t`.
  int setOf(int step) const { return (grid_.row + grid_.column + step) % grid_.columns; }
  void take(Slot& slot, int set) const;
  void replicate(Messages& messages);
  void post(const Slot& from, Slot& to, int step, int a_distance, int b_distance,
            MPI_Request* requests);

  const ProcessGrid& grid_;
  const Cyclic k_, rows_, columns_;
  const int begin_, end_;  // of the layer's steps
  const T alpha_, beta_;
  const LocalMatrix<const T> a_, b_;
  LocalMatrix<T> c_;
  std::vector<T> c_sum_, room_;
  Slot slots_[2];
};

}  // namespace torc::linalg

#endif  // TORC_LINALG_MULTIPLY_CANNON_H_
