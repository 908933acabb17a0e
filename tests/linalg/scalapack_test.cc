// ScaLAPACK's matrices: copies to and from the grid, pdgemm, and pdgetrf, with solutions by
// ScaLAPACK's own pdgetrs from its factors and pivots.
#include "linalg/run/scalapack.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "tests/linalg/described.h"
#include "tests/linalg/job.h"

namespace torc::linalg {
namespace {

std::vector<torc_linalg_blacs> grids() {
  if (worldSize() < 8) return {{1, 1, 'R'}};
  return {{2, 3, 'R'}, {2, 3, 'C'}, {4, 2, 'C'}};
}

Formula numbers(int seed) {
  return [seed](std::int64_t i, std::int64_t j) { return wholeNumber(i, j, seed); };
}

template <typename T, typename From, typename To>
void expectCopies(From from, To to) {
  ON_ORDINARY_GRID(grid);
  for (const torc_linalg_blacs& blacs : grids()) {
    for (const char transposed : {'N', 'T'}) {
      const bool turned = transposed == 'T';
      const int rows = 14, columns = 11, ia = 3, ja = 5;
      Described<T> a(blacs, -1, 29, 23, 4, 3, blacs.rows - 1, blacs.columns - 1, numbers(1));
      Distributed<T> part(grid, {rows, columns, 5, 2}, numbers(2), 1);
      ASSERT_LINALG_OK(from(grid, &blacs, transposed, a.local.data(), ia, ja, a.desc, part.matrix(),
                            part.data(), part.leading()));
      const std::vector<double> whole = part.whole();
      for (int j = 0; j < columns; ++j) {
        for (int i = 0; i < rows; ++i)
          ASSERT_EQ(whole[static_cast<std::size_t>(i + j * rows)],
                    wholeNumber(ia - 1 + (turned ? j : i), ja - 1 + (turned ? i : j), 1));
      }
      Described<T> back(blacs, -1, 29, 23, 4, 3, 0, 0, numbers(3));
      ASSERT_LINALG_OK(to(grid, part.matrix(), part.data(), part.leading(), &blacs, transposed,
                          back.local.data(), ia, ja, back.desc));
      back.each([&](int i, int j, T& element) {
        const int p = turned ? j - ja + 1 : i - ia + 1, q = turned ? i - ia + 1 : j - ja + 1;
        const bool inside = p >= 0 && p < rows && q >= 0 && q < columns;
        ASSERT_EQ(element, wholeNumber(i, j, inside ? 1 : 3)) << i << ", " << j;
      });
    }
  }
}

TEST(Scalapack, PartsAreCopiedThereAndBack) {
  expectCopies<double>(torc_linalg_dfrom_scalapack, torc_linalg_dto_scalapack);
  expectCopies<float>(torc_linalg_sfrom_scalapack, torc_linalg_sto_scalapack);
}

template <typename T, typename Gemm>
void expectProducts(Gemm gemm) {
  ON_ORDINARY_GRID(grid);
  const torc_linalg_blacs blacs = grids().back();
  const int m = 13, n = 10, k = 17;
  for (const auto& [ta, tb] : {std::pair{'N', 'T'}, std::pair{'T', 'N'}}) {
    const bool turned_a = ta == 'T', turned_b = tb == 'T';
    Described<T> a(blacs, -1, turned_a ? k + 2 : m, turned_a ? m : k + 2, 4, 3, 0, 0, numbers(1));
    Described<T> b(blacs, -1, turned_b ? n : k, turned_b ? k : n, 2, 5, 0, 0, numbers(2));
    Described<T> c(blacs, -1, m + 1, n + 4, 1, 3, 0, 0, numbers(3));
    ASSERT_LINALG_OK(gemm(grid, &blacs, ta, tb, m, n, k, 2, a.local.data(), turned_a ? 3 : 1,
                          turned_a ? 1 : 3, a.desc, b.local.data(), 1, 1, b.desc, -1,
                          c.local.data(), 2, 4, c.desc, nullptr));
    c.each([&, turned_a = turned_a, turned_b = turned_b](int i, int j, T& element) {
      double expected = wholeNumber(i, j, 3);
      const int p = i - 1, q = j - 3;
      if (p >= 0 && q >= 0 && q < n) {
        expected = -expected;
        for (int l = 0; l < k; ++l)
          expected += 2 * (turned_a ? wholeNumber(l + 2, p, 1) : wholeNumber(p, l + 2, 1)) *
                      (turned_b ? wholeNumber(q, l, 2) : wholeNumber(l, q, 2));
      }
      ASSERT_EQ(element, expected) << i << ", " << j;
    });
  }
}

TEST(Scalapack, GemmStandsInForPdgemm) {
  expectProducts<double>(torc_linalg_pdgemm);
  expectProducts<float>(torc_linalg_psgemm);
}

TEST(Scalapack, PdgetrsSolvesWithTheFactorsOfGetrf) {
  ON_ORDINARY_GRID(grid);
  const torc_linalg_blacs blacs = grids()[0];
  int context = 0;
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "R", blacs.rows, blacs.columns);
  const int n = 31, one = 1;
  const Formula formula = [](std::int64_t i, std::int64_t j) { return randomNumber(i, j, 6); };
  Described a(blacs, context, n, n, 5, 5, 0, 0, formula);
  // Of ones, a solution is what sums of rows are the right-hand side of.
  Described b(blacs, context, n, 1, 5, 5, 0, 0, [&](std::int64_t i, std::int64_t) {
    double sum = 0;
    for (int j = 0; j < n; ++j)
      sum += formula(i, j);
    return sum;
  });
  std::vector<int> pivots(n + 5, -1);
  int info = -1;
  ASSERT_LINALG_OK(torc_linalg_pdgetrf(grid, &blacs, n, n, a.local.data(), 1, 1, a.desc,
                                       pivots.data(), &info, nullptr));
  EXPECT_EQ(info, 0);
  if (a.has_part) {
    pdgetrs_("N", &n, &one, a.local.data(), &one, &one, a.desc, pivots.data(), b.local.data(), &one,
             &one, b.desc, &info);
    EXPECT_EQ(info, 0);
    b.each([](int i, int, double& x) { EXPECT_NEAR(x, 1, 1e-10) << i; });
    Cblacs_gridexit(context);
  }
}

template <typename T, typename Getrf>
void expectSingular(Getrf getrf) {
  ON_ORDINARY_GRID(grid);
  const torc_linalg_blacs blacs = grids()[0];
  Described<T> a(blacs, -1, 12, 12, 5, 5, 0, 0,
                 [](std::int64_t i, std::int64_t j) { return i == j && i != 7 ? 1.0 : 0.0; });
  std::vector<int> pivots(12 + 5, -1);
  int info = -1;
  expectError(
      grid.comm(),
      getrf(grid, &blacs, 12, 12, a.local.data(), 1, 1, a.desc, pivots.data(), &info, nullptr),
      TORC_LINALG_SINGULAR, "column 7");
  EXPECT_EQ(info, 8);
}

TEST(Scalapack, ASingularMatrixHasTheInfoOfPdgetrf) {
  expectSingular<double>(torc_linalg_pdgetrf);
  expectSingular<float>(torc_linalg_psgetrf);
}

TEST(Scalapack, DescriptorsThatDoNotFitAreRefusedOnAllRanks) {
  ON_ORDINARY_GRID(grid);
  const torc_linalg_blacs blacs = grids()[0];
  Described a(blacs, -1, 12, 12, 5, 5, 0, 0, numbers(1));
  Distributed<double> part(grid, {6, 6, 2, 2}, numbers(2));
  const auto copy = [&](const torc_linalg_blacs& of, int ia, const int* desc) {
    return torc_linalg_dfrom_scalapack(grid, &of, 'N', a.local.data(), ia, 1, desc, part.matrix(),
                                       part.data(), part.leading());
  };
  expectError(grid.comm(), copy(blacs, 8, a.desc), TORC_LINALG_ERR_MISMATCH,
              "A(8, 1) of 6 x 6 is not within 12 x 12");
  expectError(grid.comm(), copy({100, 1, 'R'}, 1, a.desc), TORC_LINALG_ERR_GRID, "100x1");
  expectError(grid.comm(), copy({1, 1, 'X'}, 1, a.desc), TORC_LINALG_ERR_ARGUMENT, "'R' or 'C'");
  int desc[9];
  std::copy(a.desc, a.desc + 9, desc);
  desc[0] = 501;
  expectError(grid.comm(), copy(blacs, 1, desc), TORC_LINALG_ERR_ARGUMENT, "type 501");
  desc[0] = 1;
  desc[8] = 1;
  expectError(grid.comm(), copy(blacs, 1, desc), TORC_LINALG_ERR_MISMATCH, "leading dimension 1");
  if (worldSize() >= 8) {
    // Rank 0 alone has other blocks.
    std::copy(a.desc, a.desc + 9, desc);
    desc[5] = worldRank() == 0 ? 6 : 5;
    expectError(grid.comm(), copy(blacs, 1, desc), TORC_LINALG_ERR_MISMATCH,
                "a descriptor of ScaLAPACK is not the same on all ranks: from 5 to 6");
  }
}

}  // namespace
}  // namespace torc::linalg
