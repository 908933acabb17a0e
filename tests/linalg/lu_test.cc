// 2.5D LU: L U against the rows of A in the order of the pivots; solutions; singular matrices. The
// words of 2.5D LU, counted at its MPI calls, against luWords() of linalg/, the model of
// studies/dense/lu_cost.cc and the bound of the paper's Eq. 1, n^2 / sqrt(c P).
//
//   LU_WORDS=ROWSxCOLUMNSxLAYERS,N,BLOCK mpiexec.hydra -n RANKS linalg_test
//
// counts those of one job.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "linalg/lu/lu_shape.h"
#include "studies/dense/dense_cost.h"
#include "tests/linalg/job.h"
#include "tests/studies/partition.h"

namespace torc::linalg {
namespace {

int factor(torc_linalg_grid* grid, Distributed<double>& a, int pivoting, std::int64_t* pivots,
           std::int64_t* column, const torc_linalg_options* options) {
  return torc_linalg_dlu(grid, a.matrix(), a.data(), a.leading(), pivoting, pivots, column,
                         options);
}

int factor(torc_linalg_grid* grid, Distributed<float>& a, int pivoting, std::int64_t* pivots,
           std::int64_t* column, const torc_linalg_options* options) {
  return torc_linalg_slu(grid, a.matrix(), a.data(), a.leading(), pivoting, pivots, column,
                         options);
}

/// The largest |P A - L U|, for factors that are whole on every rank.
double largestError(const Formula& a, const std::vector<double>& factors,
                    const std::vector<std::int64_t>& pivots, std::int64_t m, std::int64_t n) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(m));
  for (std::int64_t i = 0; i < m; ++i)
    order[static_cast<std::size_t>(i)] = i;
  for (std::size_t i = 0; i < pivots.size(); ++i)
    std::swap(order[i], order[static_cast<std::size_t>(pivots[i])]);
  const auto at = [&](std::int64_t i, std::int64_t j) {
    return factors[static_cast<std::size_t>(i + j * m)];
  };
  double largest = 0;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = i <= j ? at(i, j) : 0;
      for (std::int64_t s = 0; s < std::min({i, j + 1, n, m}); ++s)
        sum += at(i, s) * at(s, j);
      const double error = std::abs(sum - a(order[static_cast<std::size_t>(i)], j));
      // NaN is no small error.
      if (!(error <= largest)) largest = error;
    }
  }
  return largest;
}

struct Factored {
  std::int64_t m, n, block, panel;
  int pivoting;
  std::int64_t spare;
  bool signs = false;  // values are 1 and -1, so that pivots tie
};

template <typename T>
void expectFactors(const Grid& grid, const Factored& t) {
  SCOPED_TRACE(testing::Message() << t.m << " x " << t.n << ", blocks of " << t.block << ", panel "
                                  << t.panel << ", pivoting " << t.pivoting);
  const Formula formula = [&t](std::int64_t i, std::int64_t j) {
    const double diagonal = t.pivoting == TORC_LINALG_NO_PIVOTING && i == j ? 50 : 0;
    const double number = randomNumber(i, j, 5);
    if (t.signs) return number < 0 ? -1.0 : 1.0;
    return static_cast<double>(static_cast<T>(number + diagonal));
  };
  Distributed<T> a(grid, {t.m, t.n, t.block, t.block}, formula, t.spare);
  std::vector<std::int64_t> pivots(static_cast<std::size_t>(std::min(t.m, t.n)), -1);
  std::int64_t column = 99;
  torc_linalg_options options = {};
  options.panel = t.panel;
  ASSERT_LINALG_OK(factor(grid, a, t.pivoting, pivots.data(), &column, &options));
  EXPECT_EQ(column, -1);
  const std::vector<double> factors = a.whole();
  EXPECT_LE(largestError(formula, factors, pivots, t.m, t.n),
            60 * 60 * static_cast<double>(std::numeric_limits<T>::epsilon()));
  if (t.pivoting == TORC_LINALG_NO_PIVOTING) {
    for (std::size_t i = 0; i < pivots.size(); ++i)
      EXPECT_EQ(pivots[i], static_cast<std::int64_t>(i));
  }
}

TEST(Lu, FactorsAreThoseOfTheRowsInTheOrderOfThePivots) {
  forEachShape([](const Shape& shape) {
    const Grid grid(shape);
    for (const Factored& t : {
             Factored{45, 45, 7, 0, TORC_LINALG_TOURNAMENT, 0},  // odd sizes
             Factored{45, 45, 7, 0, TORC_LINALG_NO_PIVOTING, 2},
             Factored{33, 33, 12, 5, TORC_LINALG_TOURNAMENT, 1},  // panels within blocks
             Factored{20, 20, 64, 0, TORC_LINALG_TOURNAMENT, 0},  // blocks larger than the matrix
             Factored{41, 23, 8, 0, TORC_LINALG_TOURNAMENT, 0},   // high
             Factored{23, 41, 8, 0, TORC_LINALG_TOURNAMENT, 0},   // wide
             Factored{70, 70, 3, 0, TORC_LINALG_TOURNAMENT, 1},   // block columns of many blocks
             Factored{70, 64, 3, 2, TORC_LINALG_NO_PIVOTING, 0},  // with panels within blocks
             Factored{1, 9, 4, 0, TORC_LINALG_TOURNAMENT, 0},     // one row
             Factored{9, 1, 4, 0, TORC_LINALG_TOURNAMENT, 0},     // one column
             Factored{12, 12, 1, 0, TORC_LINALG_TOURNAMENT, 0},   // panels narrower than the layers
             Factored{0, 0, 4, 0, TORC_LINALG_TOURNAMENT, 0},
             Factored{45, 45, 7, 0, TORC_LINALG_TOURNAMENT, 0, true},
         })
      expectFactors<double>(grid, t);
    expectFactors<float>(grid, {30, 30, 8, 0, TORC_LINALG_TOURNAMENT, 0});
  });
}

TEST(Lu, BitsAreTheSameInEveryRun) {
  ON_ORDINARY_GRID(grid);
  const Formula formula = [](std::int64_t i, std::int64_t j) { return randomNumber(i, j, 6); };
  std::vector<double> first;
  for (int run = 0; run < 4; ++run) {
    Distributed<double> a(grid, {61, 61, 4, 4}, formula);
    ASSERT_LINALG_OK(factor(grid, a, TORC_LINALG_TOURNAMENT, nullptr, nullptr, nullptr));
    const std::vector<double> factors = a.whole();
    if (run == 0) first = factors;
    EXPECT_EQ(factors, first);
  }
}

template <typename T, typename Solve, typename Residual>
void expectSolutions(Solve solve, Residual residual_of) {
  ON_ORDINARY_GRID(grid);
  for (const std::int64_t sides : {1, 5}) {
    for (const int pivoting : {TORC_LINALG_NO_PIVOTING, TORC_LINALG_TOURNAMENT}) {
      const std::int64_t n = 43;
      const Formula formula = [pivoting](std::int64_t i, std::int64_t j) {
        return randomNumber(i, j, 8) + (pivoting == TORC_LINALG_NO_PIVOTING && i == j ? 50 : 0);
      };
      const Formula right = [](std::int64_t i, std::int64_t j) { return randomNumber(i, j, 9); };
      Distributed<T> a(grid, {n, n, 6, 6}, formula), factors(grid, {n, n, 6, 6}, formula, 1);
      Distributed<T> b(grid, {n, sides, 6, 2}, right), x(grid, {n, sides, 6, 2}, right, 2);
      std::vector<std::int64_t> pivots(n);
      ASSERT_LINALG_OK(factor(grid, factors, pivoting, pivots.data(), nullptr, nullptr));
      ASSERT_LINALG_OK(solve(grid, factors.matrix(), factors.data(), factors.leading(),
                             pivoting == TORC_LINALG_TOURNAMENT ? pivots.data() : nullptr,
                             x.matrix(), x.data(), x.leading(), nullptr));
      double residual = -1;
      ASSERT_LINALG_OK(residual_of(grid, a.matrix(), a.data(), a.leading(), b.matrix(), x.data(),
                                   x.leading(), b.data(), b.leading(), &residual));
      EXPECT_GT(residual, 0);
      EXPECT_LT(residual, 16);
      // A wrong solution has another residual: |B| / (eps n (|A| 0 + |B|)).
      Distributed<T> zero(
          grid, {n, sides, 6, 2}, [](std::int64_t, std::int64_t) { return 0.0; }, 2);
      ASSERT_LINALG_OK(residual_of(grid, a.matrix(), a.data(), a.leading(), b.matrix(), zero.data(),
                                   zero.leading(), b.data(), b.leading(), &residual));
      EXPECT_NEAR(residual * n * std::numeric_limits<T>::epsilon() / 2, 1, 1e-6);
    }
  }
}

TEST(Lu, SolvesWithSmallResiduals) {
  expectSolutions<double>(torc_linalg_dlu_solve, torc_linalg_dresidual);
  expectSolutions<float>(torc_linalg_slu_solve, torc_linalg_sresidual);
}

/// What is singular in whole numbers is found to be, at the first column that depends on others.
TEST(Lu, SingularMatricesHaveFiniteFactorsAndAStatus) {
  ON_ORDINARY_GRID(grid);
  const std::int64_t n = 26;
  const std::vector<std::pair<Formula, std::int64_t>> cases = {
      {[](std::int64_t, std::int64_t) { return 0.0; }, 0},
      {[](std::int64_t, std::int64_t) { return 1.0; }, 1},
      {[](std::int64_t i, std::int64_t j) { return i == j && i != 17 ? 2.0 : 0.0; }, 17},
      {[](std::int64_t i, std::int64_t j) { return i == 3 || j == n - 1 ? 0.0 : (i == j); }, 3},
      {[](std::int64_t i, std::int64_t j) { return j == 9 ? 0.0 : randomNumber(i, j, 4); }, 9},
  };
  for (std::size_t c = 0; c < cases.size(); ++c) {
    SCOPED_TRACE(c);
    Distributed<double> a(grid, {n, n, 5, 5}, cases[c].first);
    std::vector<std::int64_t> pivots(n);
    std::int64_t column = -1;
    expectError(grid.comm(),
                factor(grid, a, TORC_LINALG_TOURNAMENT, pivots.data(), &column, nullptr),
                TORC_LINALG_SINGULAR, "is zero");
    EXPECT_EQ(column, cases[c].second);
    EXPECT_LE(largestError(cases[c].first, a.whole(), pivots, n, n), 1e-13);
    Distributed<double> b(grid, {n, 1, 5, 5}, cases[c].first);
    const std::vector<double> before = b.whole();
    expectError(grid.comm(),
                torc_linalg_dlu_solve(grid, a.matrix(), a.data(), a.leading(), pivots.data(),
                                      b.matrix(), b.data(), b.leading(), nullptr),
                TORC_LINALG_SINGULAR, "is zero");
    EXPECT_EQ(b.whole(), before);
  }
}

TEST(Lu, WithoutPivotingAZeroPivotEndsIt) {
  ON_ORDINARY_GRID(grid);
  Distributed<double> a(grid, {20, 20, 4, 4}, [](std::int64_t i, std::int64_t j) {
    return i == j ? (i == 13 ? 0.0 : 1.0) : 0.0;
  });
  std::int64_t column = -1;
  expectError(grid.comm(), factor(grid, a, TORC_LINALG_NO_PIVOTING, nullptr, &column, nullptr),
              TORC_LINALG_SINGULAR, "column 13");
  EXPECT_EQ(column, 13);
}

TEST(Lu, InfinitiesAreTold) {
  ON_ORDINARY_GRID(grid);
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (const int pivoting : {TORC_LINALG_NO_PIVOTING, TORC_LINALG_TOURNAMENT}) {
      Distributed<double> a(grid, {20, 20, 4, 4}, [bad](std::int64_t i, std::int64_t j) {
        return i == 14 && j == 6 ? bad : randomNumber(i, j, 3) + (i == j ? 9 : 0);
      });
      expectError(grid.comm(), factor(grid, a, pivoting, nullptr, nullptr, nullptr),
                  TORC_LINALG_NOT_FINITE, "NaN");
    }
  }
}

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
