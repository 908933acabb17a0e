// Libraries from the real compiler, over random communicators: lines, planes and boxes of tori with
// cores and damage, with ranks in any order. Whatever is recognised gives MPI's results.
#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "tests/mpi/api_calls.h"
#include "tests/mpi/library_folder.h"

namespace torc::runtime {
namespace {

/// All-to-alls of one count, of any size, and of counts that differ from pair to pair: these have a
/// schedule of their own, or none.
void expectExchanges(torc_geometry* geometry, MPI_Comm comm, const std::string& what,
                     bool serves_lists) {
  const std::int64_t counts[6] = {3, 1, 4, 1, 5, 9};
  for (const int count : {1, 300, 20000, 0}) {
    const torc_call call = {TORC_ALLTOALL, count, count > 0 ? nullptr : counts, MPI_INT,
                            MPI_OP_NULL};
    torc_schedule* schedule = nullptr;
    if (count == 0 && !serves_lists) {
      EXPECT_TORC_ERROR(torc_library_load(geometry, &call, &schedule), TORC_ERR_UNSUPPORTED, "");
      continue;
    }
    ASSERT_TORC_OK(torc_library_load(geometry, &call, &schedule));
    expectRight(
        schedule, {what, comm},
        count > 0 ? shapeOf(apiFunction("alltoall"), count) : shapeOf(apiFunction("alltoallv"), 4));
    EXPECT_TORC_OK(torc_schedule_free(schedule));
  }
}

class CompiledLibraries : public testing::Test {
 protected:
  void SetUp() override {
    if (worldSize() < 4) GTEST_SKIP() << "no sub-tori";
    ASSERT_TORC_OK(torc_context_create(&context_));
  }
  void TearDown() override {
    EXPECT_TORC_OK(torc_library_close(library_));
    EXPECT_TORC_OK(torc_context_destroy(context_));
  }
  void open(const std::string& name) {
    const std::string path = "tests/mpi/" + name;
    const torc_library_options options = OpenOptions{.directory = path.c_str()}.value();
    ASSERT_TORC_OK(torc_library_open(context_, MPI_COMM_WORLD, &options, &library_));
  }

  /// Recognises the communicator; whether it was, and gave MPI's results.
  bool serves(MPI_Comm comm, std::int64_t scale, const std::string& what) {
    torc_geometry* geometry = nullptr;
    const int result = torc_geometry_recognise(library_, comm, &geometry);
    if (result != TORC_OK) {
      EXPECT_EQ(result, TORC_ERR_UNSUPPORTED) << torc_error_message();
      return false;
    }
    expectResults(geometry, comm, what, scale);
    // Sub-tori are sound.
    int size = 0;
    MPI_Comm_size(comm, &size);
    expectExchanges(geometry, comm, what, is_sound_ || size < worldSize());
    EXPECT_TORC_OK(torc_geometry_destroy(geometry));
    return true;
  }

  /// The world and sub-tori of it, in random orders: the number of ranks whose sub-torus was
  /// served.
  int tryCommunicators() {
    const int rank = worldRank(), half = worldSize() / 2;
    std::mt19937 random(7);  // the same on all ranks
    int served = 0;
    for (int round = 0; round < 5; ++round) {
      std::vector<int> keys(static_cast<std::size_t>(worldSize()));
      std::iota(keys.begin(), keys.end(), 0);
      std::ranges::shuffle(keys, random);
      const int random_color = static_cast<int>(random() >> rank & 1);
      const int colors[] = {rank / half, rank % half, rank / 2, rank % 2, random_color};
      const std::string what = "round " + std::to_string(round);
      MPI_Comm comm = MPI_COMM_NULL;
      MPI_Comm_split(MPI_COMM_WORLD, 0, keys[rank], &comm);
      EXPECT_TRUE(serves(comm, round % 3 == 0 ? 2000 : 1, what + ", all"));
      MPI_Comm_free(&comm);
      MPI_Comm_split(MPI_COMM_WORLD, colors[round], keys[rank], &comm);
      served += serves(comm, 1, what + ", sub-tori") ? 1 : 0;
      MPI_Comm_free(&comm);
    }
    int all = 0;
    MPI_Allreduce(&served, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return all;
  }

  torc_context* context_ = nullptr;
  torc_library* library_ = nullptr;
  bool is_sound_ = true;
};

TEST_F(CompiledLibraries, EveryBoxOfATorus) {
  open(worldSize() == 6 ? "built_3x2" : "built_2x2");
  EXPECT_GT(tryCommunicators(), 0);
}

TEST_F(CompiledLibraries, NodesWithCores) {
  open(worldSize() == 6 ? "built_3+2" : "built_2+2");
  EXPECT_GT(tryCommunicators(), 0);
  // One core of each node is a line.
  MPI_Comm comm = MPI_COMM_NULL;
  const int nodes = worldSize() / 2;
  MPI_Comm_split(MPI_COMM_WORLD, worldRank() / nodes, worldRank(), &comm);
  EXPECT_TRUE(serves(comm, 100, "one core of each node"));
  MPI_Comm_free(&comm);
  // All cores of one node need no network, and have no schedule.
  MPI_Comm_split(MPI_COMM_WORLD, worldRank() % nodes, worldRank(), &comm);
  EXPECT_FALSE(serves(comm, 1, "one node"));
  MPI_Comm_free(&comm);
}

TEST_F(CompiledLibraries, ADamagedTorus) {
  if (worldSize() != 6) GTEST_SKIP();
  open("built_4x2_damaged");
  is_sound_ = false;
  EXPECT_GT(tryCommunicators(), 0);
  torc_library_info info;
  ASSERT_TORC_OK(torc_library_query(library_, &info));
  EXPECT_EQ(info.nodes, 6u);
  // Nodes (1, 0) and (2, 1) are dead: ranks 0 to 2 are what is left of row 0.
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, worldRank() / 3, worldRank(), &comm);
  torc_geometry* geometry = nullptr;
  EXPECT_TORC_ERROR(torc_geometry_recognise(library_, comm, &geometry), TORC_ERR_UNSUPPORTED,
                    "the library has nothing for the sub-torus 3x1 of 4x2");
  MPI_Comm_free(&comm);
}

}  // namespace
}  // namespace torc::runtime
