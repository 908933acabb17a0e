// The words that 2.5D LU sends, counted at its calls of MPI, against luWords() of linalg/, the
// model of studies/dense/lu_cost.cc and the bound of the paper's Eq. 1, n^2 / sqrt(c P).
//
//   LU_WORDS=ROWSxCOLUMNSxLAYERS,N,BLOCK mpiexec.hydra -n RANKS lu_words_test
//
// counts those of one job.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "linalg/lu/lu_shape.h"
#include "studies/dense/dense_cost.h"
#include "tests/linalg/job.h"
#include "tests/linalg/word_count.h"
#include "tests/studies/partition.h"

namespace torc::linalg {
namespace {

struct Counted {
  WordCount count;
  double predicted = 0, modelled = 0, bound = 0;
};

/// The words of the same job by studies/dense/lu_cost.cc.
double modelledWords(const GridSizes& grid, const LuShape& shape) {
  const std::string torus = std::to_string(grid.columns) + "x" + std::to_string(grid.rows) + "x" +
                            std::to_string(grid.layers);
  studies::DenseJob job;
  job.size = static_cast<double>(shape.matrix.rows);
  job.flop_rate = 1;
  job.grid = {static_cast<double>(grid.rows), static_cast<double>(grid.columns),
              static_cast<double>(grid.layers)};
  const studies::LuWidths widths = {static_cast<double>(shape.outerWidth(grid)),
                                    static_cast<double>(shape.width(grid))};
  return studies::luCost(studies::partition("bgp", torus), job, widths, shape.pivoting).bytes() / 8;
}

Counted factor(const Shape& shape, std::int64_t n, std::int64_t block, int pivoting) {
  const Grid grid(shape);
  const torc_linalg_matrix matrix = {n, n, block, block};
  Distributed<double> a(grid, matrix, [&](std::int64_t i, std::int64_t j) {
    const double diagonal =
        pivoting == TORC_LINALG_NO_PIVOTING && i == j ? 2.0 * static_cast<double>(n) : 0;
    return randomNumber(i, j, 5) + diagonal;
  });
  startCounting();
  EXPECT_LINALG_OK(
      torc_linalg_dlu(grid, &matrix, a.data(), a.leading(), pivoting, nullptr, nullptr, nullptr));
  Counted result;
  result.count = endCounting();
  MPI_Allreduce(MPI_IN_PLACE, &result.count, 3, MPI_DOUBLE, MPI_MAX, grid.comm());
  const GridSizes sizes = {shape.rows, shape.columns, shape.layers};
  const LuShape lu = {matrix, pivoting != TORC_LINALG_NO_PIVOTING};
  result.predicted = luWords(sizes, lu);
  result.modelled = modelledWords(sizes, lu);
  const double processes = shape.rows * shape.columns * shape.layers;
  result.bound = static_cast<double>(n * n) / std::sqrt(shape.layers * processes);
  if (worldRank() == 0)
    std::printf(
        "%dx%dx%d, n = %lld, blocks of %lld%s: %.0f words along the path in %.0f collectives, "
        "%.2f of luWords(), %.2f of luCost(), %.2f of Eq. 1\n",
        shape.rows, shape.columns, shape.layers, static_cast<long long>(n),
        static_cast<long long>(block), lu.pivoting ? "" : ", no pivoting", result.count.path,
        result.count.messages, result.count.path / result.predicted,
        result.count.path / result.modelled, result.count.path / result.bound);
  return result;
}

TEST(LuWords, AreThoseOfTheModelsAndWithinAConstantOfTheBound) {
  const auto check = [](const Shape& shape, std::int64_t n, std::int64_t block) {
    for (const int pivoting : {TORC_LINALG_TOURNAMENT, TORC_LINALG_NO_PIVOTING}) {
      const Counted counted = factor(shape, n, block, pivoting);
      if (shape.rows * shape.columns == 1) {
        EXPECT_EQ(counted.count.path, 0);
        continue;
      }
      EXPECT_GT(counted.count.path, 0.9 * counted.predicted);
      EXPECT_LT(counted.count.path, 1.2 * counted.predicted);
      EXPECT_GT(counted.count.path, 0.9 * counted.modelled);
      EXPECT_LT(counted.count.path, 1.3 * counted.modelled);
      EXPECT_LT(counted.count.path, (pivoting == TORC_LINALG_TOURNAMENT ? 10 : 7) * counted.bound);
    }
  };
  if (const char* const job = std::getenv("LU_WORDS")) {
    Shape shape = {};
    long long n = 0, block = 0;
    ASSERT_EQ(std::sscanf(job, "%dx%dx%d,%lld,%lld", &shape.rows, &shape.columns, &shape.layers, &n,
                          &block),
              5);
    check(shape, n, block);
    return;
  }
  forEachShape([&](const Shape& shape) { check(shape, 144, 4); });
}

}  // namespace
}  // namespace torc::linalg
