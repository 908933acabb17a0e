// The functions of ScaLAPACK and BLACS that torc-gemm and torc-lu compare with, in both precisions,
// and a matrix in their layout.
#ifndef TORC_LINALG_RUN_SCALAPACK_H_
#define TORC_LINALG_RUN_SCALAPACK_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "linalg/torc_linalg.h"

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column);
void Cblacs_gridexit(int context);
int numroc_(const int* n, const int* block, const int* process, const int* first,
            const int* processes);
void pdgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
             const double* alpha, const double* a, const int* ia, const int* ja, const int* desca,
             const double* b, const int* ib, const int* jb, const int* descb, const double* beta,
             double* c, const int* ic, const int* jc, const int* descc);
void psgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
             const float* alpha, const float* a, const int* ia, const int* ja, const int* desca,
             const float* b, const int* ib, const int* jb, const int* descb, const float* beta,
             float* c, const int* ic, const int* jc, const int* descc);
void pdgetrf_(const int* m, const int* n, double* a, const int* ia, const int* ja, const int* desca,
              int* ipiv, int* info);
void psgetrf_(const int* m, const int* n, float* a, const int* ia, const int* ja, const int* desca,
              int* ipiv, int* info);
void pdgetrs_(const char* trans, const int* n, const int* sides, const double* a, const int* ia,
              const int* ja, const int* desca, const int* ipiv, double* b, const int* ib,
              const int* jb, const int* descb, int* info);
void psgetrs_(const char* trans, const int* n, const int* sides, const float* a, const int* ia,
              const int* ja, const int* desca, const int* ipiv, float* b, const int* ib,
              const int* jb, const int* descb, int* info);
}

namespace torc::linalg {

// The functions of one precision.
struct Double {
  using T = double;
  static constexpr auto gemm = torc_linalg_dgemm;
  static constexpr auto lu = torc_linalg_dlu;
  static constexpr auto solve = torc_linalg_dlu_solve;
  static constexpr auto residual = torc_linalg_dresidual;
  static constexpr auto from = torc_linalg_dfrom_scalapack;
  static constexpr auto pgemm = pdgemm_;
  static constexpr auto getrf = pdgetrf_;
  static constexpr auto getrs = pdgetrs_;
};
struct Single {
  using T = float;
  static constexpr auto gemm = torc_linalg_sgemm;
  static constexpr auto lu = torc_linalg_slu;
  static constexpr auto solve = torc_linalg_slu_solve;
  static constexpr auto residual = torc_linalg_sresidual;
  static constexpr auto from = torc_linalg_sfrom_scalapack;
  static constexpr auto pgemm = psgemm_;
  static constexpr auto getrf = psgetrf_;
  static constexpr auto getrs = psgetrs_;
};

/// A BLACS grid over all ranks of MPI_COMM_WORLD, as nearly square as their number allows.
class BlacsGrid {
 public:
  explicit BlacsGrid(int processes) {
    for (int rows = 1; rows * rows <= processes; ++rows) {
      if (processes % rows == 0) shape = {rows, processes / rows, 'R'};
    }
    Cblacs_get(-1, 0, &context);
    Cblacs_gridinit(&context, "R", shape.rows, shape.columns);
    int rows = 0, columns = 0;
    Cblacs_gridinfo(context, &rows, &columns, &row, &column);
  }
  ~BlacsGrid() { Cblacs_gridexit(context); }
  BlacsGrid(const BlacsGrid&) = delete;
  BlacsGrid& operator=(const BlacsGrid&) = delete;

  torc_linalg_blacs shape = {1, 1, 'R'};
  int context = 0, row = 0, column = 0;
};

/// A process's part of an m x n matrix, in blocks of one size.
template <typename T>
struct BlacsMatrix {
  template <typename Element>
  BlacsMatrix(const BlacsGrid& grid, std::int64_t m, std::int64_t n, std::int64_t block,
              Element&& element) {
    const int zero = 0, rows = static_cast<int>(m), columns = static_cast<int>(n);
    const int size = static_cast<int>(block);
    local_rows = numroc_(&rows, &size, &grid.row, &zero, &grid.shape.rows);
    const int local_columns = numroc_(&columns, &size, &grid.column, &zero, &grid.shape.columns);
    const int leading = std::max(1, local_rows);
    const int entries[9] = {1, grid.context, rows, columns, size, size, 0, 0, leading};
    std::copy(entries, entries + 9, desc);
    data.resize(static_cast<std::size_t>(leading) * static_cast<std::size_t>(local_columns));
    for (std::int64_t j = 0; j < local_columns; ++j) {
      for (std::int64_t i = 0; i < local_rows; ++i)
        data[static_cast<std::size_t>(i + j * leading)] = static_cast<T>(
            element((i / block * grid.shape.rows + grid.row) * block + i % block,
                    (j / block * grid.shape.columns + grid.column) * block + j % block));
    }
  }

  int desc[9];
  int local_rows = 0;
  std::vector<T> data;
};

}  // namespace torc::linalg

#endif  // TORC_LINALG_RUN_SCALAPACK_H_
