// Grids on the torus of the job. With TORC_LIBRARY set, torc is preloaded on 2x2x2, with ranks
// mapped as in shuffled.map.
#include "linalg/grid/torus_place.h"

#include <array>
#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "tests/linalg/described.h"
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
  if (!assignAxes(extents.data(), static_cast<int>(extents.size()), {rows, columns, layers},
                  &roles))
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
  const Grid grid({2, 2, 2}, MPI_COMM_WORLD);
  EXPECT_EQ(grid.info.on_torus, isPreloaded() ? 1 : 0);
  const int rank = worldRank();
  if (isPreloaded()) {
    EXPECT_EQ(grid.info.column, kPlaces[rank][0]);
    EXPECT_EQ(grid.info.row, kPlaces[rank][1]);
    EXPECT_EQ(grid.info.layer, kPlaces[rank][2]);
  } else {
    EXPECT_EQ((grid.info.layer * 2 + grid.info.row) * 2 + grid.info.column, rank);
  }
}

TEST(OnTorus, BoxesOfTheTorus) {
  // The plane Z = 1 where it is known, and four ranks that lie in none where it is not.
  MPI_Comm plane = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, kPlaces[worldRank()][2], worldRank(), &plane);
  EXPECT_EQ(Grid({2, 2, 1}, plane).info.on_torus, isPreloaded() ? 1 : 0);
  MPI_Comm_free(&plane);
  // Six ranks fill no box.
  MPI_Comm six = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, worldRank() < 6 ? 0 : MPI_UNDEFINED, 0, &six);
  if (six == MPI_COMM_NULL) return;
  EXPECT_EQ(Grid({2, 3, 1}, six).info.on_torus, 0);
  MPI_Comm_free(&six);
}

// A matrix of ScaLAPACK, whose processes count by rank, comes to the processes of the grid and
// goes back.
TEST(OnTorus, CopiesOfScalapacksMatrices) {
  constexpr int n = 21;
  const Grid grid({2, 2, 2}, MPI_COMM_WORLD);
  const Formula formula = [](std::int64_t i, std::int64_t j) {
    return 100.0 * static_cast<double>(i) + static_cast<double>(j);
  };
  const Formula zero = [](std::int64_t, std::int64_t) { return 0.0; };
  const torc_linalg_blacs blacs = {2, 4, 'R'};
  Described a(blacs, 0, n, n, 4, 4, 0, 0, formula), back(blacs, 0, n, n, 4, 4, 0, 0, zero);
  Distributed<double> there(grid, {n, n, 3, 5}, zero);
  const Distributed<double> expected(grid, {n, n, 3, 5}, formula);
  ASSERT_LINALG_OK(torc_linalg_dfrom_scalapack(grid, &blacs, 'N', a.local.data(), 1, 1, a.desc,
                                               there.matrix(), there.data(), there.leading()));
  EXPECT_EQ(there.whole(), expected.whole());
  ASSERT_LINALG_OK(torc_linalg_dto_scalapack(grid, there.matrix(), there.data(), there.leading(),
                                             &blacs, 'N', back.local.data(), 1, 1, back.desc));
  EXPECT_EQ(a.local, back.local);
}

}  // namespace
}  // namespace torc::linalg
