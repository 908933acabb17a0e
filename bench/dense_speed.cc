// Measures the speed of linalg/ in multiplication and factorization on this machine, compared with
// OpenBLAS on one process, and pdgemm and pdgetrf of ScaLAPACK on all of them: in turns within one
// run, as medians, on the same grid of processes in one layer.
//
//   OPENBLAS_NUM_THREADS=1 mpiexec.hydra -n RANKS dense_speed N BLOCK TURNS
//
// bash bench/dense_speed.sh runs it on 1, 2 and 4 ranks.
#include <algorithm>
#include <cblas.h>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include <mpi.h>

#include "linalg/run/matrix_job.h"
#include "linalg/run/scalapack.h"

namespace torc::linalg {
namespace {

double secondsOf(const std::function<void()>& work) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  work();
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime() - begin;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int run(int n, int block, int turns) {
  const BlacsGrid blacs(worldSize());
  torc_linalg_grid* grid = nullptr;
  require(torc_linalg_grid_create(MPI_COMM_WORLD, blacs.shape.rows, blacs.shape.columns, 1, &grid));
  const torc_linalg_matrix matrix = {n, n, block, block};
  const std::int64_t leading = leadingOf(grid, matrix);
  const auto random = [](int number) {
    return [number](std::int64_t i, std::int64_t j) { return randomElement(i, j, number); };
  };
  // A layer has ScaLAPACK's layout: both use the same arrays.
  BlacsMatrix<double> a(blacs, n, n, block, random(1)), b(blacs, n, n, block, random(2));
  BlacsMatrix<double> c(blacs, n, n, block, random(3));
  std::vector<double> factors(a.data.size());
  std::vector<int> pivots(static_cast<std::size_t>(a.local_rows + block));
  std::vector<std::int64_t> exchanges(static_cast<std::size_t>(n));
  const bool alone = worldSize() == 1;
  const double one = 1, zero = 0;
  const int first = 1;
  std::vector<double> times[5];
  for (int turn = 0; turn <= turns; ++turn) {
    const double seconds[5] = {
        alone ? secondsOf([&] {
          cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a.data.data(), n,
                      b.data.data(), n, 0, c.data.data(), n);
        })
              : 0,
        secondsOf([&] {
          require(torc_linalg_dgemm(grid, 1, &matrix, a.data.data(), leading, &matrix,
                                    b.data.data(), leading, 0, &matrix, c.data.data(), leading,
                                    nullptr));
        }),
        secondsOf([&] {
          pdgemm_("N", "N", &n, &n, &n, &one, a.data.data(), &first, &first, a.desc, b.data.data(),
                  &first, &first, b.desc, &zero, c.data.data(), &first, &first, c.desc);
        }),
        [&] {
          factors = a.data;
          return secondsOf([&] {
            require(torc_linalg_dlu(grid, &matrix, factors.data(), leading, TORC_LINALG_TOURNAMENT,
                                    exchanges.data(), nullptr, nullptr));
          });
        }(),
        [&] {
          factors = a.data;
          int info = 0;
          return secondsOf([&] {
            pdgetrf_(&n, &n, factors.data(), &first, &first, a.desc, pivots.data(), &info);
          });
        }()};
    // The first turn warms up.
    for (int i = 0; i < 5 && turn > 0; ++i)
      times[i].push_back(seconds[i]);
  }
  double medians[5];
  for (int i = 0; i < 5; ++i)
    medians[i] = median(times[i]);
  say("| %d | %d | %d | ", worldSize(), n, block);
  if (alone)
    say("%.3f | ", medians[0] / medians[1]);
  else
    say("- | ");
  say("%.4f | %.4f | %.3f | %.4f | %.4f | %.3f |\n", medians[1], medians[2],
      medians[1] / medians[2], medians[3], medians[4], medians[3] / medians[4]);
  torc_linalg_grid_destroy(grid);
  return 0;
}

}  // namespace
}  // namespace torc::linalg

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 4) {
    std::fprintf(stderr, "usage: dense_speed N BLOCK TURNS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  torc::linalg::run(std::atoi(argv[1]), std::atoi(argv[2]), std::atoi(argv[3]));
  MPI_Finalize();
}
