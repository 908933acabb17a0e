// 2.5D SUMMA and Cannon's algorithm against direct sums, in integers.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "tests/linalg/job.h"

namespace torc::linalg {
namespace {

int multiply(torc_linalg_grid* grid, double alpha, Distributed<double>& a, Distributed<double>& b,
             double beta, Distributed<double>& c, const torc_linalg_options* options) {
  return torc_linalg_dgemm(grid, alpha, a.matrix(), a.data(), a.leading(), b.matrix(), b.data(),
                           b.leading(), beta, c.matrix(), c.data(), c.leading(), options);
}

int multiply(torc_linalg_grid* grid, float alpha, Distributed<float>& a, Distributed<float>& b,
             float beta, Distributed<float>& c, const torc_linalg_options* options) {
  return torc_linalg_sgemm(grid, alpha, a.matrix(), a.data(), a.leading(), b.matrix(), b.data(),
                           b.leading(), beta, c.matrix(), c.data(), c.leading(), options);
}

struct Product {
  std::int64_t m, n, k;
  std::int64_t row_block, column_block, a_block, b_block;
  std::int64_t panel;
  double alpha, beta;
  std::int64_t spare;
};

template <typename T>
void expectProduct(const Grid& grid, const Product& t) {
  SCOPED_TRACE(testing::Message() << t.m << " x " << t.n << " x " << t.k << ", panel " << t.panel);
  const auto formula = [](int seed) {
    return [seed](std::int64_t i, std::int64_t j) { return wholeNumber(i, j, seed); };
  };
  Distributed<T> a(grid, {t.m, t.k, t.row_block, t.a_block}, formula(1), t.spare);
  Distributed<T> b(grid, {t.k, t.n, t.b_block, t.column_block}, formula(2), 2 * t.spare);
  Distributed<T> c(grid, {t.m, t.n, t.row_block, t.column_block}, formula(3), t.spare);
  torc_linalg_times times = {-1, -1, -1};
  torc_linalg_options options = {};
  options.panel = t.panel;
  options.times = &times;
  ASSERT_LINALG_OK(
      multiply(grid, static_cast<T>(t.alpha), a, b, static_cast<T>(t.beta), c, &options));
  EXPECT_GE(times.compute, 0);
  EXPECT_GE(times.communicate, 0);
  const std::vector<double> result = c.whole();
  for (std::int64_t j = 0; j < t.n; ++j) {
    for (std::int64_t i = 0; i < t.m; ++i) {
      double sum = 0;
      for (std::int64_t l = 0; l < t.k; ++l)
        sum += wholeNumber(i, l, 1) * wholeNumber(l, j, 2);
      ASSERT_EQ(result[static_cast<std::size_t>(i + j * t.m)],
                t.alpha * sum + t.beta * wholeNumber(i, j, 3))
          << i << ", " << j;
    }
  }
}

TEST(Gemm, IsTheSumOnEveryGrid) {
  forEachShape([](const Shape& shape) {
    const Grid grid(shape);
    for (const Product& t : {
             Product{37, 29, 41, 4, 5, 6, 9, 4, 1, 0, 0},     // odd sizes, blocks that differ
             Product{37, 29, 23, 4, 5, 6, 6, 0, 2, -1, 3},    // columns with gaps
             Product{1, 23, 17, 8, 8, 8, 8, 0, 1, 1, 0},      // one row
             Product{19, 1, 17, 8, 8, 8, 8, 0, 1, 0, 0},      // one column
             Product{10, 12, 9, 64, 64, 64, 64, 0, 1, 0, 1},  // blocks larger than the matrix
             Product{7, 6, 1, 2, 2, 2, 2, 0, 1, 0, 0},        // fewer columns than layers
             Product{7, 6, 0, 2, 2, 2, 2, 0, 1, 2, 0},        // an empty sum
             Product{0, 6, 5, 2, 2, 2, 2, 0, 1, 0, 0},        // nothing
             Product{9, 9, 9, 2, 2, 2, 2, 0, 0, 3, 0},        // A and B do not count
         })
      expectProduct<double>(grid, t);
    expectProduct<float>(grid, {26, 31, 22, 4, 5, 4, 4, 3, 2, 1, 1});
  });
}

TEST(Gemm, IsTheSumByCannonOnSquareLayers) {
  forEachShape([](const Shape& shape) {
    const Grid grid(shape);
    constexpr std::int64_t kCannon = TORC_LINALG_CANNON;
    const auto refusal = [&](std::int64_t block_of_b, int code, const char* text) {
      const auto one = [](std::int64_t, std::int64_t) { return 1.0; };
      Distributed<double> a(grid, {9, 9, 2, 2}, one), b(grid, {9, 9, block_of_b, 2}, one);
      Distributed<double> c(grid, {9, 9, 2, 2}, one);
      torc_linalg_options options = {};
      options.panel = kCannon;
      expectError(grid.comm(), multiply(grid, 1.0, a, b, 0.0, c, &options), code, text);
    };
    if (grid.info.rows != grid.info.columns)
      return refusal(2, TORC_LINALG_ERR_GRID, "Cannon's algorithm needs square layers, not 2 x 3");
    if (grid.info.rows > 1)
      refusal(3, TORC_LINALG_ERR_MISMATCH, "column blocks of A are 2, row blocks of B 3");
    for (const Product& t : {
             Product{37, 29, 41, 4, 5, 6, 6, kCannon, 2, -1, 3},
             Product{23, 17, 12, 3, 2, 3, 3, kCannon, 1, 0, 0},
             Product{10, 12, 9, 64, 64, 64, 64, kCannon, 1, 1, 1},  // blocks larger than the matrix
             Product{7, 6, 1, 2, 2, 2, 2, kCannon, 1, 0, 0},        // sets of k without an index
             Product{7, 6, 0, 2, 2, 2, 2, kCannon, 1, 2, 0},        // an empty sum
             Product{9, 9, 9, 2, 2, 2, 2, kCannon, 0, 3, 0},        // A and B do not count
         })
      expectProduct<double>(grid, t);
    expectProduct<float>(grid, {26, 31, 22, 4, 5, 4, 4, kCannon, 2, 1, 1});
  });
}

TEST(Gemm, DoesNotReadCWhereBetaIsZero) {
  ON_ORDINARY_GRID(grid);
  const torc_linalg_matrix matrix = {11, 11, 3, 3};
  const auto one = [](std::int64_t, std::int64_t) { return 1.0; };
  Distributed<double> a(grid, matrix, one), b(grid, matrix, one);
  Distributed<double> c(grid, matrix, [](std::int64_t, std::int64_t) {
    return std::numeric_limits<double>::quiet_NaN();
  });
  ASSERT_LINALG_OK(multiply(grid, 1.0, a, b, 0.0, c, nullptr));
  for (const double value : c.whole())
    ASSERT_EQ(value, 11);
}

TEST(Gemm, TellsOfProgressAndIdleTime) {
  ON_ORDINARY_GRID(grid);
  const torc_linalg_matrix matrix = {24, 24, 4, 4};
  const auto one = [](std::int64_t, std::int64_t) { return 1.0; };
  Distributed<double> a(grid, matrix, one), b(grid, matrix, one), c(grid, matrix, one);
  std::vector<double> parts;
  torc_linalg_times times = {};
  torc_linalg_options options = {};
  options.barriers = 1;
  options.times = &times;
  options.progress = [](double done, void* to) {
    static_cast<std::vector<double>*>(to)->push_back(done);
  };
  options.progress_argument = &parts;
  ASSERT_LINALG_OK(multiply(grid, 1.0, a, b, 0.0, c, &options));
  ASSERT_FALSE(parts.empty());
  EXPECT_TRUE(std::is_sorted(parts.begin(), parts.end()));
  EXPECT_EQ(parts.back(), 1);
  EXPECT_EQ(times.idle > 0, grid.info.rows > 1);
}

}  // namespace
}  // namespace torc::linalg
