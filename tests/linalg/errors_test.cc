// Bad input ends with one status and one line, on every rank; checks of memory and grids before the
// start.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "tests/linalg/job.h"

namespace torc::linalg {
namespace {

Formula zeros() {
  return [](std::int64_t, std::int64_t) { return 0.0; };
}

TEST(LinalgErrors, SizesThatAreNoGridOfTheProcesses) {
  torc_linalg_grid* grid = nullptr;
  const auto create = [&](int rows, int columns, int layers) {
    return torc_linalg_grid_create(MPI_COMM_WORLD, rows, columns, layers, &grid);
  };
  expectError(MPI_COMM_WORLD, create(2, 2, 3), TORC_LINALG_ERR_GRID,
              "grid 2x2x3 does not have the 8 processes");
  expectError(MPI_COMM_WORLD, create(0, 8, 1), TORC_LINALG_ERR_GRID, "1 or more");
  expectError(MPI_COMM_WORLD, create(2, 1, 4), TORC_LINALG_ERR_GRID,
              "4 layers are more than the cube root of 8");
  expectError(MPI_COMM_WORLD, create(1 << 30, 1 << 30, 1 << 30), TORC_LINALG_ERR_GRID,
              "does not have the 8");
  expectError(MPI_COMM_WORLD, create(worldRank() == 3 ? 4 : 2, worldRank() == 3 ? 1 : 2, 2),
              TORC_LINALG_ERR_MISMATCH, "rows is not the same on all ranks: from 2 to 4");
  expectError(MPI_COMM_WORLD, create(2, 2, worldRank() == 5 ? 7 : 2), TORC_LINALG_ERR_GRID,
              "rank 5: grid 2x2x7");
  EXPECT_EQ(grid, nullptr);
}

TEST(LinalgErrors, BadArgumentsOfGemm) {
  ON_ORDINARY_GRID(grid);
  Distributed<double> a(grid, {12, 8, 3, 2}, zeros()), b(grid, {8, 10, 2, 3}, zeros());
  Distributed<double> c(grid, {12, 10, 3, 3}, zeros());
  const auto multiply = [&](const torc_linalg_matrix* of_b, const double* data, std::int64_t ldb,
                            const torc_linalg_options* options) {
    return torc_linalg_dgemm(grid, 1, a.matrix(), a.data(), a.leading(), of_b, data, ldb, 0,
                             c.matrix(), c.data(), c.leading(), options);
  };
  const MPI_Comm comm = grid.comm();
  const torc_linalg_matrix high = {9, 10, 2, 3}, blocks = {8, 10, 2, 4}, none = {8, 10, 0, 3};
  expectError(comm, multiply(&high, b.data(), 9, nullptr), TORC_LINALG_ERR_MISMATCH,
              "A is 12 x 8, B 9 x 10 and C 12 x 10");
  expectError(comm, multiply(&blocks, b.data(), 9, nullptr), TORC_LINALG_ERR_MISMATCH,
              "column blocks of B are 4, those of C 3");
  expectError(comm, multiply(&none, b.data(), 9, nullptr), TORC_LINALG_ERR_ARGUMENT,
              "B has blocks of 0 x 3");
  expectError(comm, multiply(nullptr, b.data(), 9, nullptr), TORC_LINALG_ERR_ARGUMENT,
              "no descriptor");
  expectError(comm, multiply(b.matrix(), worldRank() == 1 ? nullptr : b.data(), 9, nullptr),
              TORC_LINALG_ERR_ARGUMENT, "rank 1: B is null");
  expectError(comm, multiply(b.matrix(), b.data(), 1, nullptr), TORC_LINALG_ERR_ARGUMENT,
              "leading dimension 1 for 4 local rows");
  torc_linalg_options options = {};
  options.panel = -3;
  expectError(comm, multiply(b.matrix(), b.data(), 9, &options), TORC_LINALG_ERR_ARGUMENT,
              "a panel of -3");
  options.panel = worldRank() == 2 ? 5 : 6;
  expectError(comm, multiply(b.matrix(), b.data(), 9, &options), TORC_LINALG_ERR_MISMATCH,
              "options.panel is not the same on all ranks: from 5 to 6");
  EXPECT_EQ(torc_linalg_dgemm(nullptr, 1, a.matrix(), a.data(), 1, b.matrix(), b.data(), 1, 0,
                              c.matrix(), c.data(), 1, nullptr),
            TORC_LINALG_ERR_ARGUMENT);
}

TEST(LinalgErrors, MemoryIsStatedAndKept) {
  ON_ORDINARY_GRID(grid);
  const torc_linalg_matrix matrix = {40, 40, 8, 8};
  Distributed<double> a(grid, matrix, zeros()), c(grid, matrix, zeros());
  std::int64_t multiplication = 0, lu = 0;
  ASSERT_LINALG_OK(
      torc_linalg_gemm_memory(2, 2, 2, &matrix, &matrix, &matrix, 0, 8, &multiplication));
  ASSERT_LINALG_OK(torc_linalg_lu_memory(2, 2, 2, &matrix, TORC_LINALG_TOURNAMENT, 8, &lu));
  // Three matrices of 24 x 24, two panels twice, and a piece of a matrix with gaps.
  EXPECT_EQ(multiplication, 8 * (3 * 24 * 24 + 2 * 2 * 8 * 24 + 24 * 24));
  torc_linalg_options options = {};
  const auto multiply = [&] {
    return torc_linalg_dgemm(grid, 1, &matrix, a.data(), a.leading(), &matrix, a.data(),
                             a.leading(), 0, &matrix, c.data(), c.leading(), &options);
  };
  options.memory = multiplication;
  EXPECT_LINALG_OK(multiply());
  options.memory = multiplication - 1;
  expectError(grid.comm(), multiply(), TORC_LINALG_ERR_MEMORY,
              "a process needs " + std::to_string(multiplication) + " bytes on 2x2x2");
  options.memory = lu - 1;
  expectError(grid.comm(),
              torc_linalg_dlu(grid, &matrix, a.data(), a.leading(), TORC_LINALG_TOURNAMENT, nullptr,
                              nullptr, &options),
              TORC_LINALG_ERR_MEMORY, "a process needs " + std::to_string(lu));
}

TEST(LinalgErrors, BadArgumentsOfLu) {
  ON_ORDINARY_GRID(grid);
  const torc_linalg_matrix matrix = {12, 12, 3, 3}, oblong = {12, 12, 3, 4}, high = {12, 11, 3, 3};
  Distributed<double> a(grid, matrix, zeros());
  const auto factor = [&](const torc_linalg_matrix* of, int pivoting) {
    return torc_linalg_dlu(grid, of, a.data(), 12, pivoting, nullptr, nullptr, nullptr);
  };
  const MPI_Comm comm = grid.comm();
  expectError(comm, factor(&oblong, 1), TORC_LINALG_ERR_MISMATCH, "LU wants them square");
  expectError(comm, factor(&matrix, 2), TORC_LINALG_ERR_ARGUMENT, "pivoting is 2");
  expectError(comm, factor(nullptr, 1), TORC_LINALG_ERR_ARGUMENT, "no descriptor");
  Distributed<double> b(grid, {12, 2, 3, 3}, zeros());
  std::vector<std::int64_t> pivots(12, 20);
  const auto solve = [&](const torc_linalg_matrix* of, const std::int64_t* with) {
    return torc_linalg_dlu_solve(grid, of, a.data(), a.leading(), with, b.matrix(), b.data(),
                                 b.leading(), nullptr);
  };
  expectError(comm, solve(&high, nullptr), TORC_LINALG_ERR_MISMATCH, "both must be square");
  expectError(comm, solve(&matrix, pivots.data()), TORC_LINALG_ERR_ARGUMENT,
              "pivots[0] is 20 of 12 rows");
  expectError(comm, solve(&matrix, nullptr), TORC_LINALG_SINGULAR, "column 0");
}

TEST(LinalgErrors, MoreLayersWhereTheySaveWordsAndMemoryAllows) {
  const std::int64_t n = 1 << 16;
  const torc_linalg_matrix matrix = {n, n, 64, 64};
  int rows = 0, columns = 0, layers = 0;
  const auto choose = [&](int processes, std::int64_t memory) {
    return torc_linalg_choose_gemm_grid(processes, &matrix, &matrix, &matrix, 0, 8, memory, &rows,
                                        &columns, &layers);
  };
  ASSERT_LINALG_OK(choose(4096, 0));
  // 2 n^2/sqrt(cP) + 3 n^2 c/P is least there.
  EXPECT_EQ(layers, 8);
  EXPECT_EQ(rows * columns, 512);
  std::int64_t needed = 0, flat = 0;
  ASSERT_LINALG_OK(
      torc_linalg_gemm_memory(rows, columns, layers, &matrix, &matrix, &matrix, 0, 8, &needed));
  ASSERT_LINALG_OK(choose(4096, needed - 1));
  EXPECT_LT(layers, 8);
  ASSERT_LINALG_OK(torc_linalg_gemm_memory(64, 64, 1, &matrix, &matrix, &matrix, 0, 8, &flat));
  ASSERT_LINALG_OK(choose(4096, flat));
  EXPECT_EQ(layers, 1);
  EXPECT_EQ(rows, 64);
  EXPECT_EQ(choose(4096, 1 << 20), TORC_LINALG_ERR_MEMORY);
  EXPECT_NE(std::string(torc_linalg_error_message()).find("4096 processes need"),
            std::string::npos);
  ASSERT_LINALG_OK(choose(7, 0));
  EXPECT_EQ(layers * rows * columns, 7);
  ASSERT_LINALG_OK(torc_linalg_choose_lu_grid(4096, &matrix, 1, 8, 0, &rows, &columns, &layers));
  EXPECT_EQ(layers * rows * columns, 4096);
  EXPECT_GT(layers, 1);
}

}  // namespace
}  // namespace torc::linalg
