// Grids that lie on the torus of the job. Where TORC_LIBRARY is set, torc is preloaded on 2x2x2,
// with ranks mapped as in shuffled.map.
#include "linalg/grid/torus_place.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "tests/linalg/job.h"

namespace torc::linalg {
namespace {

constexpr auto kColumns = AxisRole::kColumns, kRows = AxisRole::kRows, kLayers = AxisRole::kLayers;

/// Of shuffled.map, by rank.
constexpr int kPlaces[8][3] = {{1, 1, 0}, {0, 0, 1}, {1, 0, 0}, {0, 1, 1},
                               {1, 1, 1}, {0, 1, 0}, {0, 0, 0}, {1, 0, 1}};

bool isPreloaded() {
  return std::getenv("TORC_LIBRARY") != nullptr;
}

std::vector<AxisRole> rolesOf(std::vector<int> extents, int rows, int columns, int layers) {
  AxisRoles roles = {};
  if (!assignAxes(extents.data(), static_cast<int>(extents.size()), rows, columns, layers, &roles))
    return {};
  return {roles.begin(), roles.begin() + static_cast<std::ptrdiff_t>(extents.size())};
}

TEST(AxisRoles, AxesOfTheGridsSizes) {
  EXPECT_EQ(rolesOf({4, 4, 4}, 4, 4, 4), (std::vector{kColumns, kRows, kLayers}));
  EXPECT_EQ(rolesOf({8, 4, 2}, 8, 4, 2), (std::vector{kRows, kColumns, kLayers}));
  EXPECT_EQ(rolesOf({2, 8, 8}, 8, 8, 2), (std::vector{kLayers, kColumns, kRows}));
}

TEST(AxisRoles, AxesTogether) {
  // The paper's fold: cores into X, 8 x 4 columns, and Y as layers.
  EXPECT_EQ(rolesOf({8, 8, 32, 4}, 32, 32, 8), (std::vector{kColumns, kLayers, kRows, kColumns}));
  EXPECT_EQ(rolesOf({4, 4, 4}, 4, 16, 1), (std::vector{kColumns, kColumns, kRows}));
  EXPECT_EQ(rolesOf({1, 6, 1}, 1, 6, 1), (std::vector{kColumns, kColumns, kColumns}));
  // As few axes as possible share a role: not X with T, which would do, too.
  EXPECT_EQ(rolesOf({2, 2, 4, 4}, 4, 4, 4), (std::vector{kColumns, kColumns, kRows, kLayers}));
}

TEST(AxisRoles, SizesThatNoAxesHave) {
  EXPECT_TRUE(rolesOf({4, 4, 4}, 8, 8, 1).empty());
  EXPECT_TRUE(rolesOf({3, 4}, 4, 4, 1).empty());
  EXPECT_TRUE(rolesOf({4, 4}, 4, 4, 4).empty());
}

TEST(OnTorus, ProcessesLieAsTheirNodes) {
  torc_linalg_grid* grid = nullptr;
  ASSERT_LINALG_OK(torc_linalg_grid_create_on_torus(MPI_COMM_WORLD, 2, 2, 2, &grid));
  torc_linalg_grid_info info;
  ASSERT_LINALG_OK(torc_linalg_grid_query(grid, &info));
  EXPECT_EQ(info.on_torus, isPreloaded() ? 1 : 0);
  const int rank = worldRank();
  if (isPreloaded()) {
    EXPECT_EQ(info.column, kPlaces[rank][0]);
    EXPECT_EQ(info.row, kPlaces[rank][1]);
    EXPECT_EQ(info.layer, kPlaces[rank][2]);
  } else {
    EXPECT_EQ((info.layer * 2 + info.row) * 2 + info.column, rank);
  }
  torc_linalg_grid_destroy(grid);
}

TEST(OnTorus, BoxesOfTheTorus) {
  // The plane Z = 1 where it is known, and four ranks that lie in none where it is not.
  MPI_Comm plane = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, kPlaces[worldRank()][2], worldRank(), &plane);
  torc_linalg_grid* grid = nullptr;
  ASSERT_LINALG_OK(torc_linalg_grid_create_on_torus(plane, 2, 2, 1, &grid));
  torc_linalg_grid_info info;
  ASSERT_LINALG_OK(torc_linalg_grid_query(grid, &info));
  EXPECT_EQ(info.on_torus, isPreloaded() ? 1 : 0);
  torc_linalg_grid_destroy(grid);
  MPI_Comm_free(&plane);
  // Six ranks fill no box.
  MPI_Comm six = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, worldRank() < 6 ? 0 : MPI_UNDEFINED, 0, &six);
  if (six == MPI_COMM_NULL) return;
  ASSERT_LINALG_OK(torc_linalg_grid_create_on_torus(six, 2, 3, 1, &grid));
  ASSERT_LINALG_OK(torc_linalg_grid_query(grid, &info));
  EXPECT_EQ(info.on_torus, 0);
  torc_linalg_grid_destroy(grid);
  MPI_Comm_free(&six);
}

// A matrix of ScaLAPACK, whose processes count by rank, comes to the processes of the grid and
// goes back.
TEST(OnTorus, CopiesOfScalapacksMatrices) {
  constexpr int n = 21, block = 4;
  torc_linalg_grid* grid = nullptr;
  ASSERT_LINALG_OK(torc_linalg_grid_create_on_torus(MPI_COMM_WORLD, 2, 2, 2, &grid));
  const torc_linalg_blacs blacs = {2, 4, 'R'};
  const int rank = worldRank(), row = rank / 4, column = rank % 4;
  const auto mine = [](int size, int block, int process, int processes, int local) {
    const int global = (local / block * processes + process) * block + local % block;
    return global < size ? global : -1;
  };
  constexpr int kRoom = 24;
  const int desc[9] = {1, 0, n, n, block, block, 0, 0, kRoom};
  std::vector<double> a(kRoom * kRoom, -1), back(kRoom * kRoom, -1);
  for (int j = 0; j < kRoom; ++j) {
    for (int i = 0; i < kRoom; ++i) {
      const int global_row = mine(n, block, row, 2, i),
                global_column = mine(n, block, column, 4, j);
      if (global_row >= 0 && global_column >= 0)
        a[static_cast<std::size_t>(i + j * kRoom)] = 100 * global_row + global_column;
    }
  }
  const torc_linalg_matrix matrix = {n, n, 3, 5};
  std::int64_t rows = 0, columns = 0;
  ASSERT_LINALG_OK(torc_linalg_local_size(grid, &matrix, &rows, &columns));
  const std::int64_t leading = std::max<std::int64_t>(1, rows);
  std::vector<double> local(static_cast<std::size_t>(leading * columns));
  ASSERT_LINALG_OK(torc_linalg_dfrom_scalapack(grid, &blacs, 'N', a.data(), 1, 1, desc, &matrix,
                                               local.data(), leading));
  torc_linalg_grid_info info;
  ASSERT_LINALG_OK(torc_linalg_grid_query(grid, &info));
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t i = 0; i < rows; ++i)
      ASSERT_EQ(local[static_cast<std::size_t>(i + j * leading)],
                100 * mine(n, 3, info.row, 2, static_cast<int>(i)) +
                    mine(n, 5, info.column, 2, static_cast<int>(j)));
  }
  ASSERT_LINALG_OK(torc_linalg_dto_scalapack(grid, &matrix, local.data(), leading, &blacs, 'N',
                                             back.data(), 1, 1, desc));
  EXPECT_EQ(a, back);
  torc_linalg_grid_destroy(grid);
}

}  // namespace
}  // namespace torc::linalg
