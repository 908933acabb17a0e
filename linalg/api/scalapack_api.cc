// The C API's functions on ScaLAPACK's matrices: copies, pdgemm, pdgetrf.
#include <algorithm>
#include <vector>

#include "linalg/api/gemm_call.h"
#include "linalg/api/lu_call.h"
#include "linalg/api/scalapack_part.h"

namespace torc::linalg {
namespace {

/// The placement of a matrix of the grid: this process's part, on layer 0.
template <typename T>
struct OnGrid {
  torc_linalg_matrix matrix;
  std::vector<T> room;
  std::int64_t leading = 1;

  void allocate(const ProcessGrid& grid) {
    if (grid.layer > 0) return;
    const std::int64_t rows = rowsOf(matrix, grid.rows).count(grid.row);
    leading = std::max<std::int64_t>(1, rows);
    room.resize(
        static_cast<std::size_t>(rows * columnsOf(matrix, grid.columns).count(grid.column)));
  }
  Placement<T> placement(const ProcessGrid& grid) {
    return placementOnGrid(grid, matrix, room.data(), leading);
  }
};

/// Copies `rows` x `columns` elements. Collective; copies nothing if some rank is out of memory.
template <typename T>
void redistribute(const ProcessGrid& grid, const Placement<T>& from, const Placement<T>& to,
                  std::int64_t rows, std::int64_t columns) {
  Redistribution<T> copies(grid.all, from, to, rows, columns);
  agree(grid.all, [&] { copies.allocate(); });
  copies.run();
}

template <typename T>
void copyBetween(const ProcessGrid& grid, const torc_linalg_blacs* blacs, char transposed, T* a,
                 int ia, int ja, const int* desc, const torc_linalg_matrix* matrix, T* local,
                 std::int64_t leading, bool to_scalapack) {
  const std::int64_t rows = matrix == nullptr ? 0 : matrix->rows;
  const std::int64_t columns = matrix == nullptr ? 0 : matrix->columns;
  const ScalapackPart part{blacs, transposed, ia, ja, desc, rows, columns, "A"};
  const auto check = [&] {
    localMatrix(grid, matrix, local, leading, "the matrix of the grid");
    part.check(grid, a);
  };
  SameArguments same = {{"the direction of a copy", to_scalapack ? 1 : 0}};
  addMatrix(same, matrix, "the descriptor of the grid's matrix");
  part.addTo(same);
  agree(grid.all, check, same);
  Placement<T> from = part.placement(a), to = placementOnGrid(grid, *matrix, local, leading);
  if (to_scalapack) std::swap(from, to);
  redistribute(grid, from, to, rows, columns);
}

template <typename T>
void pgemm(const ProcessGrid& grid, const torc_linalg_blacs* blacs, char transa, char transb, int m,
           int n, int k, T alpha, const T* a, int ia, int ja, const int* desca, const T* b, int ib,
           int jb, const int* descb, T beta, T* c, int ic, int jc, const int* descc,
           const torc_linalg_options* options) {
  const ScalapackPart part_a{blacs, transa, ia, ja, desca, m, k, "A"};
  const ScalapackPart part_b{blacs, transb, ib, jb, descb, k, n, "B"};
  const ScalapackPart part_c{blacs, 'N', ic, jc, descc, m, n, "C"};
  const auto check = [&] {
    if (m < 0 || n < 0 || k < 0)
      throw Failure{TORC_LINALG_ERR_ARGUMENT, "sizes " + std::to_string(m) + ", " +
                                                  std::to_string(n) + ", " + std::to_string(k) +
                                                  ": they are 0 or more"};
    part_a.check(grid, a);
    part_b.check(grid, b);
    part_c.check(grid, c);
  };
  SameArguments same = {{"alpha", bitsOf(alpha)}, {"beta", bitsOf(beta)}};
  for (const ScalapackPart* part : {&part_a, &part_b, &part_c})
    part->addTo(same);
  agree(grid.all, check, same);

  // Blocks like those of C, and along k like those of A.
  const std::int64_t row_block = descc[kRowBlock], column_block = descc[kColumnBlock];
  const std::int64_t inner = desca[part_a.isTransposed() ? kRowBlock : kColumnBlock];
  OnGrid<T> on_a{{m, k, row_block, inner}, {}}, on_b{{k, n, inner, column_block}, {}};
  OnGrid<T> on_c{{m, n, row_block, column_block}, {}};
  agree(grid.all, [&] {
    for (OnGrid<T>* matrix : {&on_a, &on_b, &on_c})
      matrix->allocate(grid);
  });
  // A and B are only read.
  redistribute(grid, part_a.placement(const_cast<T*>(a)), on_a.placement(grid), m, k);
  redistribute(grid, part_b.placement(const_cast<T*>(b)), on_b.placement(grid), k, n);
  if (beta != 0) redistribute(grid, part_c.placement(c), on_c.placement(grid), m, n);
  gemm<T>(grid, alpha, &on_a.matrix, on_a.room.data(), on_a.leading, &on_b.matrix, on_b.room.data(),
          on_b.leading, beta, &on_c.matrix, on_c.room.data(), on_c.leading, options);
  redistribute(grid, on_c.placement(grid), part_c.placement(c), m, n);
}

template <typename T>
void pgetrf(const ProcessGrid& grid, const torc_linalg_blacs* blacs, int m, int n, T* a, int ia,
            int ja, const int* desca, int* ipiv, int* info, const torc_linalg_options* options) {
  const ScalapackPart part{blacs, 'N', ia, ja, desca, m, n, "A"};
  int rank = 0;
  MPI_Comm_rank(grid.all, &rank);
  bool in_blacs = false;
  const auto check = [&] {
    if (m < 0 || n < 0)
      throw Failure{TORC_LINALG_ERR_ARGUMENT, "sizes " + std::to_string(m) + ", " +
                                                  std::to_string(n) + ": they are 0 or more"};
    part.check(grid, a);
    in_blacs = rank < blacs->rows * blacs->columns;
    if (info == nullptr || (ipiv == nullptr && in_blacs && m > 0 && n > 0))
      throw Failure{TORC_LINALG_ERR_ARGUMENT, "ipiv or info is null"};
  };
  SameArguments same;
  part.addTo(same);
  agree(grid.all, check, same);

  *info = 0;
  const std::int64_t block = desca[kColumnBlock];
  OnGrid<T> on_grid{{m, n, block, block}, {}};
  agree(grid.all, [&] { on_grid.allocate(grid); });
  const Placement<T> place = part.placement(a);
  redistribute(grid, place, on_grid.placement(grid), m, n);
  std::vector<std::int64_t> exchanges;
  const std::int64_t zero = factor(grid, &on_grid.matrix, on_grid.room.data(), on_grid.leading,
                                   TORC_LINALG_TOURNAMENT, &exchanges, options);
  *info = static_cast<int>(zero + 1);
  redistribute(grid, on_grid.placement(grid), place, m, n);
  const int row = place.row_major ? rank / blacs->columns : rank % blacs->rows;
  for (std::size_t i = 0; in_blacs && i < exchanges.size(); ++i) {
    const std::int64_t global = ia - 1 + static_cast<std::int64_t>(i);
    if (place.rows.owner(global) == row)
      ipiv[place.rows.local(global)] = static_cast<int>(ia + exchanges[i]);
  }
  checkPivot(zero);
}

}  // namespace
}  // namespace torc::linalg

using namespace torc::linalg;

int torc_linalg_dfrom_scalapack(torc_linalg_grid* grid, const torc_linalg_blacs* blacs,
                                char transposed, const double* a, int ia, int ja, const int* desc,
                                const torc_linalg_matrix* matrix, double* to, int64_t ldto) {
  return onGrid(grid, copyBetween<double>, blacs, transposed, const_cast<double*>(a), ia, ja, desc,
                matrix, to, ldto, false);
}

int torc_linalg_dto_scalapack(torc_linalg_grid* grid, const torc_linalg_matrix* matrix,
                              const double* from, int64_t ldfrom, const torc_linalg_blacs* blacs,
                              char transposed, double* a, int ia, int ja, const int* desc) {
  return onGrid(grid, copyBetween<double>, blacs, transposed, a, ia, ja, desc, matrix,
                const_cast<double*>(from), ldfrom, true);
}

int torc_linalg_sfrom_scalapack(torc_linalg_grid* grid, const torc_linalg_blacs* blacs,
                                char transposed, const float* a, int ia, int ja, const int* desc,
                                const torc_linalg_matrix* matrix, float* to, int64_t ldto) {
  return onGrid(grid, copyBetween<float>, blacs, transposed, const_cast<float*>(a), ia, ja, desc,
                matrix, to, ldto, false);
}

int torc_linalg_sto_scalapack(torc_linalg_grid* grid, const torc_linalg_matrix* matrix,
                              const float* from, int64_t ldfrom, const torc_linalg_blacs* blacs,
                              char transposed, float* a, int ia, int ja, const int* desc) {
  return onGrid(grid, copyBetween<float>, blacs, transposed, a, ia, ja, desc, matrix,
                const_cast<float*>(from), ldfrom, true);
}

int torc_linalg_pdgemm(torc_linalg_grid* grid, const torc_linalg_blacs* blacs, char transa,
                       char transb, int m, int n, int k, double alpha, const double* a, int ia,
                       int ja, const int* desca, const double* b, int ib, int jb, const int* descb,
                       double beta, double* c, int ic, int jc, const int* descc,
                       const torc_linalg_options* options) {
  return onGrid(grid, pgemm<double>, blacs, transa, transb, m, n, k, alpha, a, ia, ja, desca, b, ib,
                jb, descb, beta, c, ic, jc, descc, options);
}

int torc_linalg_psgemm(torc_linalg_grid* grid, const torc_linalg_blacs* blacs, char transa,
                       char transb, int m, int n, int k, float alpha, const float* a, int ia,
                       int ja, const int* desca, const float* b, int ib, int jb, const int* descb,
                       float beta, float* c, int ic, int jc, const int* descc,
                       const torc_linalg_options* options) {
  return onGrid(grid, pgemm<float>, blacs, transa, transb, m, n, k, alpha, a, ia, ja, desca, b, ib,
                jb, descb, beta, c, ic, jc, descc, options);
}

int torc_linalg_pdgetrf(torc_linalg_grid* grid, const torc_linalg_blacs* blacs, int m, int n,
                        double* a, int ia, int ja, const int* desca, int* ipiv, int* info,
                        const torc_linalg_options* options) {
  return onGrid(grid, pgetrf<double>, blacs, m, n, a, ia, ja, desca, ipiv, info, options);
}

int torc_linalg_psgetrf(torc_linalg_grid* grid, const torc_linalg_blacs* blacs, int m, int n,
                        float* a, int ia, int ja, const int* desca, int* ipiv, int* info,
                        const torc_linalg_options* options) {
  return onGrid(grid, pgetrf<float>, blacs, m, n, a, ia, ja, desca, ipiv, info, options);
}
