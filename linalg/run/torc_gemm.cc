// torc-gemm: multiplies random matrices by 2.5D SUMMA, prints its times, and compares with pdgemm
// of ScaLAPACK on the same data.
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

#include <mpi.h>

#include "linalg/run/matrix_job.h"
#include "linalg/run/scalapack.h"

namespace torc::linalg {
namespace {

/// Runs pdgemm on all ranks; the result has the layout of the grid.
template <typename P>
std::vector<typename P::T> byScalapack(torc_linalg_grid* grid, const Arguments& arguments,
                                       const torc_linalg_matrix& c_matrix, double* seconds) {
  using T = typename P::T;
  const BlacsGrid blacs(worldSize());
  const auto random = [](int number) {
    return [number](std::int64_t i, std::int64_t j) { return randomElement(i, j, number); };
  };
  const BlacsMatrix<T> a(blacs, arguments.m, arguments.k, arguments.block, random(1));
  const BlacsMatrix<T> b(blacs, arguments.k, arguments.n, arguments.block, random(2));
  BlacsMatrix<T> c(blacs, arguments.m, arguments.n, arguments.block,
                   [](std::int64_t, std::int64_t) { return 0.0; });
  const int m = static_cast<int>(arguments.m), n = static_cast<int>(arguments.n);
  const int k = static_cast<int>(arguments.k), one = 1;
  const T alpha = 1, beta = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  P::pgemm("N", "N", &m, &n, &k, &alpha, a.data.data(), &one, &one, a.desc, b.data.data(), &one,
           &one, b.desc, &beta, c.data.data(), &one, &one, c.desc);
  MPI_Barrier(MPI_COMM_WORLD);
  *seconds = MPI_Wtime() - begin;
  std::vector<T> result = randomMatrix<T>(grid, c_matrix, 0);
  require(P::from(grid, &blacs.shape, 'N', c.data.data(), 1, 1, c.desc, &c_matrix, result.data(),
                  leadingOf(grid, c_matrix)));
  return result;
}

template <typename P>
int run(Arguments arguments) {
  using T = typename P::T;
  const std::int64_t block = arguments.block;
  const torc_linalg_matrix a_matrix = {arguments.m, arguments.k, block, block};
  const torc_linalg_matrix b_matrix = {arguments.k, arguments.n, block, block};
  const torc_linalg_matrix c_matrix = {arguments.m, arguments.n, block, block};
  if (arguments.layers == 0)
    require(torc_linalg_choose_gemm_grid(worldSize(), &a_matrix, &b_matrix, &c_matrix,
                                         arguments.panel, sizeof(T), arguments.memory,
                                         &arguments.rows, &arguments.columns, &arguments.layers));
  torc_linalg_grid* grid = nullptr;
  require(torc_linalg_grid_create_on_torus(MPI_COMM_WORLD, arguments.rows, arguments.columns,
                                           arguments.layers, &grid));
  std::int64_t bytes = 0;
  require(torc_linalg_gemm_memory(arguments.rows, arguments.columns, arguments.layers, &a_matrix,
                                  &b_matrix, &c_matrix, arguments.panel, sizeof(T), &bytes));
  say("torc-gemm: %lld x %lld x %lld, %s, blocks of %lld, on %dx%dx%d: %lld bytes per process\n",
      static_cast<long long>(arguments.m), static_cast<long long>(arguments.n),
      static_cast<long long>(arguments.k), sizeof(T) == 8 ? "double" : "float",
      static_cast<long long>(block), arguments.rows, arguments.columns, arguments.layers,
      static_cast<long long>(bytes));

  const std::vector<T> a = randomMatrix<T>(grid, a_matrix, 1),
                       b = randomMatrix<T>(grid, b_matrix, 2);
  std::vector<T> c = randomMatrix<T>(grid, c_matrix, 0);
  const double flops = 2.0 * static_cast<double>(arguments.m) * static_cast<double>(arguments.n) *
                       static_cast<double>(arguments.k);
  for (int i = 0; i < arguments.repeat; ++i) {
    torc_linalg_times times = {};
    const torc_linalg_options options = optionsOf(arguments, &times);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    require(P::gemm(grid, 1, &a_matrix, a.data(), leadingOf(grid, a_matrix), &b_matrix, b.data(),
                    leadingOf(grid, b_matrix), 0, &c_matrix, c.data(), leadingOf(grid, c_matrix),
                    &options));
    MPI_Barrier(MPI_COMM_WORLD);
    sayTimes(arguments.panel == TORC_LINALG_CANNON ? "2.5D Cannon" : "2.5D SUMMA",
             MPI_Wtime() - begin, flops, times);
  }

  int wrong = 0;
  if (arguments.check) {
    double seconds = 0;
    const std::vector<T> other = byScalapack<P>(grid, arguments, c_matrix, &seconds);
    // Both have an error of at most k eps |A| |B| in each element; elements are up to 1/2.
    double difference = 0;
    for (std::size_t i = 0; i < c.size(); ++i) {
      const double of_element = std::abs(static_cast<double>(c[i]) - static_cast<double>(other[i]));
      difference = of_element <= difference ? difference : of_element;
    }
    const double k = static_cast<double>(arguments.k);
    difference /= static_cast<double>(std::numeric_limits<T>::epsilon()) * k * 0.25;
    wrong = difference <= 2 * k ? 0 : 1;
    MPI_Allreduce(MPI_IN_PLACE, &difference, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    say("pdgemm: %.4f s, %.3f Gflop/s\n", seconds, flops / seconds / 1e9);
    say("largest difference / (eps k |A| |B|): %.3e: %s\n", difference, wrong ? "WRONG" : "ok");
  }
  torc_linalg_grid_destroy(grid);
  return wrong;
}

}  // namespace
}  // namespace torc::linalg

int main(int argc, char** argv) {
  using namespace torc::linalg;
  return runProgram("torc-gemm", argc, argv, [](const Arguments& arguments) {
    return arguments.single ? run<Single>(arguments) : run<Double>(arguments);
  });
}
