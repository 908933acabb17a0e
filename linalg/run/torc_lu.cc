// torc-lu: factors a random matrix by 2.5D LU, solves with it, prints HPL's scaled residual and its
// times, and compares with pdgetrf and pdgetrs of ScaLAPACK on the same data.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include <mpi.h>

#include "linalg/run/matrix_job.h"
#include "linalg/run/scalapack.h"

namespace torc::linalg {
namespace {

constexpr double kPassing = 16;  // HPL's threshold

/// The element of A: without pivoting its diagonal exceeds the sum of the others in its row.
double elementOfA(const Arguments& arguments, std::int64_t i, std::int64_t j) {
  return randomElement(i, j, 1) +
         (!arguments.pivoting && i == j ? static_cast<double>(arguments.n) : 0);
}

/// Adds the diagonal of elementOfA() to the matrix of randomMatrix().
template <typename T>
void addDiagonal(torc_linalg_grid* grid, const Arguments& arguments,
                 const torc_linalg_matrix& matrix, std::vector<T>& a) {
  torc_linalg_grid_info info;
  require(torc_linalg_grid_query(grid, &info));
  const std::int64_t leading = leadingOf(grid, matrix), block = matrix.row_block;
  for (std::int64_t s = 0; !arguments.pivoting && info.layer == 0 && s < matrix.rows; ++s) {
    const std::int64_t b = s / block;
    if (b % info.rows == info.row && b % info.columns == info.column)
      a[static_cast<std::size_t>(b / info.rows * block + s % block +
                                 (b / info.columns * block + s % block) * leading)] +=
          static_cast<T>(arguments.n);
  }
}

/// Runs pdgetrf and pdgetrs on all ranks; the solution has the layout of the grid.
template <typename P>
std::vector<typename P::T> byScalapack(torc_linalg_grid* grid, const Arguments& arguments,
                                       const torc_linalg_matrix& b_matrix, double* seconds) {
  using T = typename P::T;
  const BlacsGrid blacs(worldSize());
  BlacsMatrix<T> a(blacs, arguments.n, arguments.n, arguments.block,
                   [&](std::int64_t i, std::int64_t j) { return elementOfA(arguments, i, j); });
  BlacsMatrix<T> b(blacs, arguments.n, arguments.sides, arguments.block,
                   [](std::int64_t i, std::int64_t j) { return randomElement(i, j, 2); });
  std::vector<int> pivots(static_cast<std::size_t>(a.local_rows + arguments.block));
  const int n = static_cast<int>(arguments.n), sides = static_cast<int>(arguments.sides), one = 1;
  int info = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  P::getrf(&n, &n, a.data.data(), &one, &one, a.desc, pivots.data(), &info);
  MPI_Barrier(MPI_COMM_WORLD);
  *seconds = MPI_Wtime() - begin;
  P::getrs("N", &n, &sides, a.data.data(), &one, &one, a.desc, pivots.data(), b.data.data(), &one,
           &one, b.desc, &info);
  std::vector<T> x = randomMatrix<T>(grid, b_matrix, 0);
  require(P::from(grid, &blacs.shape, 'N', b.data.data(), 1, 1, b.desc, &b_matrix, x.data(),
                  leadingOf(grid, b_matrix)));
  return x;
}

/// Growth of the elements of U relative to those of A, for matrices of the grid.
template <typename T>
double growthOf(torc_linalg_grid* grid, const torc_linalg_matrix& matrix, const std::vector<T>& a,
                const std::vector<T>& factors) {
  torc_linalg_grid_info info;
  require(torc_linalg_grid_query(grid, &info));
  std::int64_t rows = 0, columns = 0;
  require(torc_linalg_local_size(grid, &matrix, &rows, &columns));
  const auto global = [&](std::int64_t local, int processes, int process) {
    return (local / matrix.row_block * processes + process) * matrix.row_block +
           local % matrix.row_block;
  };
  double largest[2] = {0, 0};
  for (std::int64_t j = 0; j < columns; ++j) {
    const std::int64_t column = global(j, info.columns, info.column);
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto at = static_cast<std::size_t>(i + j * rows);
      largest[0] = std::max(largest[0], std::abs(static_cast<double>(a[at])));
      if (global(i, info.rows, info.row) <= column)
        largest[1] = std::max(largest[1], std::abs(static_cast<double>(factors[at])));
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, largest, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return largest[1] / largest[0];
}

template <typename P>
int run(Arguments arguments) {
  using T = typename P::T;
  const int pivoting = arguments.pivoting ? TORC_LINALG_TOURNAMENT : TORC_LINALG_NO_PIVOTING;
  const torc_linalg_matrix matrix = {arguments.n, arguments.n, arguments.block, arguments.block};
  const torc_linalg_matrix b_matrix = {arguments.n, arguments.sides, arguments.block,
                                       arguments.block};
  if (arguments.layers == 0)
    require(torc_linalg_choose_lu_grid(worldSize(), &matrix, pivoting, sizeof(T), arguments.memory,
                                       &arguments.rows, &arguments.columns, &arguments.layers));
  torc_linalg_grid* grid = nullptr;
  require(torc_linalg_grid_create_on_torus(MPI_COMM_WORLD, arguments.rows, arguments.columns,
                                           arguments.layers, &grid));
  std::int64_t bytes = 0;
  require(torc_linalg_lu_memory(arguments.rows, arguments.columns, arguments.layers, &matrix,
                                pivoting, sizeof(T), &bytes));
  say("torc-lu: %lld x %lld, %s, %s, blocks of %lld, on %dx%dx%d: %lld bytes per process\n",
      static_cast<long long>(arguments.n), static_cast<long long>(arguments.n),
      sizeof(T) == 8 ? "double" : "float",
      arguments.pivoting ? "tournament pivoting" : "no pivoting",
      static_cast<long long>(arguments.block), arguments.rows, arguments.columns, arguments.layers,
      static_cast<long long>(bytes));

  std::vector<T> a = randomMatrix<T>(grid, matrix, 1);
  addDiagonal(grid, arguments, matrix, a);
  const std::vector<T> b = randomMatrix<T>(grid, b_matrix, 2);
  const std::int64_t lda = leadingOf(grid, matrix), ldb = leadingOf(grid, b_matrix);
  const double n = static_cast<double>(arguments.n);
  std::vector<T> factors, x;
  std::vector<std::int64_t> pivots(static_cast<std::size_t>(arguments.n));
  for (int i = 0; i < arguments.repeat; ++i) {
    factors = a;
    torc_linalg_times times = {};
    const torc_linalg_options options = optionsOf(arguments, &times);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    require(P::lu(grid, &matrix, factors.data(), lda, pivoting, pivots.data(), nullptr, &options));
    MPI_Barrier(MPI_COMM_WORLD);
    sayTimes("2.5D LU", MPI_Wtime() - begin, 2 * n * n * n / 3, times);
  }
  x = b;
  require(P::solve(grid, &matrix, factors.data(), lda, arguments.pivoting ? pivots.data() : nullptr,
                   &b_matrix, x.data(), ldb, nullptr));
  const auto sayResidual = [&](const char* whose, const std::vector<T>& solution) {
    double residual = 0;
    require(P::residual(grid, &matrix, a.data(), lda, &b_matrix, solution.data(), ldb, b.data(),
                        ldb, &residual));
    const bool passed = residual < kPassing;
    say("%s: |Ax-b| / (eps n (|A| |x| + |b|)) = %.7f: %s\n", whose, residual,
        passed ? "passed" : "FAILED");
    return passed;
  };
  say("growth of elements, largest of U over largest of A: %.3g\n",
      growthOf(grid, matrix, a, factors));
  bool passed = sayResidual("2.5D LU", x);
  if (arguments.check) {
    double seconds = 0;
    x = byScalapack<P>(grid, arguments, b_matrix, &seconds);
    say("pdgetrf: %.4f s, %.3f Gflop/s\n", seconds, 2 * n * n * n / 3 / seconds / 1e9);
    passed &= sayResidual("pdgetrf", x);
  }
  torc_linalg_grid_destroy(grid);
  return passed ? 0 : 1;
}

}  // namespace
}  // namespace torc::linalg

int main(int argc, char** argv) {
  using namespace torc::linalg;
  return runProgram("torc-lu", argc, argv, [](const Arguments& arguments) {
    return arguments.single ? run<Single>(arguments) : run<Double>(arguments);
  });
}
