// Residuals of 2.5D LU with tournament pivoting compared with partial pivoting in ScaLAPACK, on
// random and special matrices. More of them: ACCURACY_MATRICES=200.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "linalg/local/blas.h"
#include "linalg/run/scalapack.h"
#include "tests/linalg/job.h"

namespace torc::linalg {
namespace {

constexpr std::int64_t kSize = 32;
constexpr int kKinds = 8;

struct Kind {
  const char* name;
  Formula formula;
};

Kind kindOf(int number) {
  const int seed = 100 + number;
  const auto random = [seed](std::int64_t i, std::int64_t j) { return randomNumber(i, j, seed); };
  const double n = static_cast<double>(kSize);
  switch (number % kKinds) {
    case 0:
      return {"random", random};
    case 1:  // Elements grow by nearly 2^(n - 1) with partial pivoting: no row is exchanged.
      return {"Wilkinson", [random](std::int64_t i, std::int64_t j) {
                if (i > j && j < kSize - 1) return -1 + 1e-3 * std::abs(random(i, j));
                return i == j || j == kSize - 1 ? 1.0 : 0.0;
              }};
    case 2:
      return {"graded rows", [random](std::int64_t i, std::int64_t j) {
                return random(i, j) * std::pow(10.0, -static_cast<double>(i) / 4);
              }};
    case 3:
      return {"graded columns", [random](std::int64_t i, std::int64_t j) {
                return random(i, j) * std::pow(10.0, static_cast<double>(j) / 4);
              }};
    case 4:
      return {"orthogonal", [n, seed](std::int64_t i, std::int64_t j) {
                return std::cos(M_PI / n * (static_cast<double>(i) + 0.5) *
                                (static_cast<double>(j) + 0.01 * (seed % 7)));
              }};
    case 5:
      return {"Hilbert and noise", [random](std::int64_t i, std::int64_t j) {
                return 1.0 / static_cast<double>(i + j + 1) + 1e-8 * random(i, j);
              }};
    case 6:
      return {"distances", [random](std::int64_t i, std::int64_t j) {
                return std::abs(static_cast<double>(i - j)) + 1e-6 * random(i, j);
              }};
    default:
      return {"sparse", [random, seed](std::int64_t i, std::int64_t j) {
                return i == j || std::abs(randomNumber(j, i, seed + 1000)) < 0.15 ? random(i, j)
                                                                                  : 0;
              }};
  }
}

double right(std::int64_t i, std::int64_t) {
  return randomNumber(i, 0, 77);
}

/// How much the elements of U exceed those of A with partial pivoting.
double growthOfPartialPivoting(const Formula& a) {
  constexpr std::size_t n = kSize;
  std::vector<double> factors(n * n);
  double largest = 0, largest_u = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      factors[i + j * n] = a(static_cast<int>(i), static_cast<int>(j));
      largest = std::max(largest, std::abs(factors[i + j * n]));
    }
  }
  std::vector<int> pivots;
  factorWithPivots(LocalMatrix<double>{factors.data(), kSize, kSize, kSize}, pivots);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i; j < n; ++j)
      largest_u = std::max(largest_u, std::abs(factors[i + j * n]));
  }
  return largest_u / largest;
}

/// The solution of pdgetrf and pdgetrs on all ranks, copied to `x` on the grid.
void solveByScalapack(torc_linalg_grid* grid, const Formula& formula,
                      const torc_linalg_matrix& side, Distributed<double>& x) {
  const BlacsGrid blacs(worldSize());
  const int n = kSize, sides = 1, one = 1;
  BlacsMatrix<double> a(blacs, n, n, 8, formula), b(blacs, n, 1, 8, right);
  std::vector<int> pivots(static_cast<std::size_t>(a.local_rows) + 8);
  int info = 0;
  pdgetrf_(&n, &n, a.data.data(), &one, &one, a.desc, pivots.data(), &info);
  pdgetrs_("N", &n, &sides, a.data.data(), &one, &one, a.desc, pivots.data(), b.data.data(), &one,
           &one, b.desc, &info);
  ASSERT_LINALG_OK(torc_linalg_dfrom_scalapack(grid, &blacs.shape, 'N', b.data.data(), 1, 1, b.desc,
                                               &side, x.data(), x.leading()));
}

TEST(Accuracy, ResidualsAreThoseOfPartialPivoting) {
  ON_ORDINARY_GRID(grid);
  ASSERT_EQ(worldSize(), 8) << "ScaLAPACK solves on all ranks, which are those of the grid";
  const char* const wanted = std::getenv("ACCURACY_MATRICES");
  const int count = wanted == nullptr ? kKinds : std::atoi(wanted);
  double largest_ratio = 0, largest_residual = 0;
  for (int number = 0; number < count; ++number) {
    const Kind kind = kindOf(number);
    SCOPED_TRACE(testing::Message() << kind.name << ", number " << number);
    const torc_linalg_matrix matrix = {kSize, kSize, 8, 8}, side = {kSize, 1, 8, 8};
    Distributed<double> a(grid, matrix, kind.formula), factors(grid, matrix, kind.formula);
    Distributed<double> b(grid, side, right), x(grid, side, right);
    std::vector<std::int64_t> pivots(kSize);
    double ours = -1, theirs = -1;
    ASSERT_LINALG_OK(torc_linalg_dlu(grid, &matrix, factors.data(), factors.leading(),
                                     TORC_LINALG_TOURNAMENT, pivots.data(), nullptr, nullptr));
    ASSERT_LINALG_OK(torc_linalg_dlu_solve(grid, &matrix, factors.data(), factors.leading(),
                                           pivots.data(), &side, x.data(), x.leading(), nullptr));
    ASSERT_LINALG_OK(torc_linalg_dresidual(grid, &matrix, a.data(), a.leading(), &side, x.data(),
                                           x.leading(), b.data(), b.leading(), &ours));
    solveByScalapack(grid, kind.formula, side, x);
    ASSERT_LINALG_OK(torc_linalg_dresidual(grid, &matrix, a.data(), a.leading(), &side, x.data(),
                                           x.leading(), b.data(), b.leading(), &theirs));
    const double growth_of_theirs = growthOfPartialPivoting(kind.formula);
    const double largest_a = [&] {
      double largest = 0;
      for (const double value : a.whole())
        largest = std::max(largest, std::abs(value));
      return largest;
    }();
    double largest_u = 0;
    const std::vector<double> whole = factors.whole();
    for (std::int64_t j = 0; j < kSize; ++j) {
      for (std::int64_t i = 0; i <= j; ++i)
        largest_u = std::max(largest_u, std::abs(whole[static_cast<std::size_t>(i + j * kSize)]));
    }
    // Residuals far below one are luck: less than a tenth counts as that.
    const double ratio = ours / std::max(theirs, 0.1);
    // Where elements grow so that neither passes HPL's test, growth is what is compared: residuals
    // are then rounding errors times 10^9, and their ratio is chance.
    if (theirs > 16)
      EXPECT_LE(largest_u / largest_a, 2 * growth_of_theirs);
    else
      EXPECT_LE(ratio, 4) << ours << ", pdgetrf " << theirs;
    largest_ratio = std::max(largest_ratio, ratio);
    largest_residual = std::max(largest_residual, ours);
    if (worldRank() == 0)
      std::printf("%3d %-18s residual %.3e, pdgetrf %.3e; growth %.2e, %.2e\n", number, kind.name,
                  ours, theirs, largest_u / largest_a, growth_of_theirs);
  }
  if (worldRank() == 0)
    std::printf("largest residual %.3e, largest ratio %.2f of %d matrices\n", largest_residual,
                largest_ratio, count);
}

}  // namespace
}  // namespace torc::linalg
