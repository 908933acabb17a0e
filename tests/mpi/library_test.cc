// Libraries on real ranks: communicators are recognised by their members' places, in any order, and
// collectives by the library's schedules give MPI's results. Libraries from the real compiler, over
// random communicators: lines, planes and boxes of tori with cores and damage, with ranks in any
// order. All recognised ones give MPI's results.
#include "runtime/job/library.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
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

/// Columns of the torus; its rows are as long as this.
int width() {
  return worldSize() == 6 ? 3 : 2;
}

MPI_Comm split(int color, int key) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm);
  return comm;
}

class Libraries : public LibraryTest {
 protected:
  /// Recognises, compares with MPI, frees.
  void expectServed(MPI_Comm comm, const std::string& shape, const std::string& what) {
    torc_geometry* geometry = recognised(comm);
    torc_geometry_info info;
    ASSERT_TORC_OK(torc_geometry_query(geometry, &info));
    EXPECT_EQ(info.shape, shape) << what;
    expectResults(geometry, comm, what);
    EXPECT_TORC_OK(torc_geometry_destroy(geometry));
    if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
  }
  std::string world() const { return shapeOfWorld(); }
};

TEST_F(Libraries, TheWorldItsRowsAndColumnsInAnyOrder) {
  open();
  const int rank = worldRank(), x = rank % width(), y = rank / width();
  const std::string row = worldSize() == 6 ? "3" : "2";
  const int shuffled[] = {3, 0, 5, 2, 4, 1};
  expectServed(MPI_COMM_WORLD, world(), "world");
  const struct {
    const char* what;
    int color, key;
    std::string shape;
  } rows[] = {{"rows", y, x, row},
              {"columns", x, y, "2"},
              {"rows backwards", y, -x, row},
              {"backwards", 0, -rank, world()},
              {"one on", 0, (rank + 1) % worldSize(), world()},
              {"Y first", 0, 10 * x + y, world()},
              {"shuffled", 0, shuffled[rank], world()}};
  for (const auto& one : rows)
    expectServed(split(one.color, one.key), one.shape, one.what);
}

TEST_F(Libraries, AnOrderOfAxesHasNoTable) {
  open();
  const int x = worldRank() % width(), y = worldRank() / width();
  for (const bool is_turned : {false, true}) {
    MPI_Comm comm = split(0, is_turned ? 10 * x + y : worldRank());
    const Recognition found = library_->recognise(comm);
    EXPECT_EQ(found.reason, "");
    EXPECT_TRUE(found.map.isIdentity());
    EXPECT_EQ(found.topology.orderString(), is_turned ? "YX" : "XY");
    MPI_Comm_free(&comm);
  }
}

TEST_F(Libraries, ABoxOfAPartition) {
  if (worldSize() != 6) GTEST_SKIP();
  open({.directory = "tests/mpi/built_3x2"});  // which has all boxes
  // Columns 2 and 0, side by side round the torus, and column 1. As a box the two are a ring along
  // Y, and a line along X.
  const int x = worldRank() % 3;
  MPI_Comm comm = split(x == 1 ? 1 : 0, worldRank());
  expectServed(comm, x == 1 ? "2" : "2x2m", "box");
}

TEST_F(Libraries, WhatIsNoSubTorusIsRefusedWithTheReason) {
  open();
  // Not a box: a diagonal. Rank 0 and the last of the second row but one, against the others.
  const int other = width() + 1;
  const bool diagonal = worldRank() == 0 || worldRank() == other;
  MPI_Comm comm = split(diagonal ? 0 : 1, worldRank());
  torc_geometry* geometry = nullptr;
  const char* reason = diagonal ? "2 ranks do not fill the box 2x2 from (0, 0): (1, 0) is"
                       : worldSize() == 6
                           ? "4 ranks do not fill the box 3x2 from (0, 0): (0, 0) is"
                           : "2 ranks do not fill the box 2x2 from (0, 0): (0, 0) is";
  expectError(torc_geometry_recognise(library_, comm, &geometry), TORC_ERR_UNSUPPORTED, reason);
  EXPECT_EQ(geometry, nullptr);
  MPI_Comm_free(&comm);
  expectError(torc_geometry_recognise(library_, MPI_COMM_SELF, &geometry), TORC_ERR_UNSUPPORTED,
              "the communicator has one rank");
  refused(torc_geometry_recognise(library_, MPI_COMM_NULL, &geometry), "MPI_COMM_NULL");
  refused(torc_geometry_recognise(nullptr, MPI_COMM_WORLD, &geometry), "library is NULL");
  refused(torc_geometry_recognise(library_, MPI_COMM_WORLD, worldRank() == 1 ? nullptr : &geometry),
          "rank 1: geometry is NULL");
}

TEST_F(Libraries, ASubTorusThatTheLibraryLacks) {
  if (worldSize() != 6) GTEST_SKIP();
  open();
  // Two neighbours of a row of three form a line of two, which is no ring: 2m.
  MPI_Comm comm = split(worldRank() < 2 ? 0 : 1, worldRank());
  torc_geometry* geometry = nullptr;
  if (worldRank() < 2) {
    expectError(torc_geometry_recognise(library_, comm, &geometry), TORC_ERR_UNSUPPORTED,
                "the library has nothing for the sub-torus 2x1 of 3x2");
  } else {
    EXPECT_EQ(torc_geometry_recognise(library_, comm, &geometry), TORC_ERR_UNSUPPORTED);
  }
  MPI_Comm_free(&comm);
}

TEST_F(Libraries, AnotherOrderOfTheWorld) {
  open({.order = "YX"});
  torc_library_info info;
  ASSERT_TORC_OK(torc_library_query(library_, &info));
  EXPECT_STREQ(info.order, "YX");
  EXPECT_TRUE(library_->recognise(MPI_COMM_WORLD).map.isIdentity());
  expectServed(MPI_COMM_WORLD, world(), "world");
  expectServed(split(worldRank() / 2, worldRank()), "2", "columns");
  expectServed(split(worldRank() % 2, worldRank()), worldSize() == 6 ? "3" : "2", "rows");
}

TEST_F(Libraries, AMappingFile) {
  std::string text = "# the ranks of the job, backwards\n";
  for (int r = worldSize() - 1; r >= 0; --r)
    text += std::to_string(r % width()) + " " + std::to_string(r / width()) + "\n";
  const std::string path = folder_->write("job.map", text);
  open({.mapping = path.c_str()});
  torc_library_info info;
  ASSERT_TORC_OK(torc_library_query(library_, &info));
  EXPECT_STREQ(info.order, "");
  torc_geometry* geometry = recognised(MPI_COMM_WORLD);
  torc_geometry_info place;
  ASSERT_TORC_OK(torc_geometry_query(geometry, &place));
  // Rings are counted from where rank 0 lies.
  const int backwards = worldSize() - 1 - worldRank(), corner = worldSize() - 1;
  EXPECT_EQ(place.coordinates[0], (backwards % width() - corner % width() + width()) % width());
  EXPECT_EQ(place.coordinates[1], (backwards / width() - corner / width() + 2) % 2);
  expectResults(geometry, MPI_COMM_WORLD, "mapped");
  EXPECT_TORC_OK(torc_geometry_destroy(geometry));
  expectServed(split(worldRank() / width(), worldRank()), worldSize() == 6 ? "3" : "2", "rows");
}

TEST_F(Libraries, AJobOnSomeNodesOfAPartition) {
  if (worldSize() != 4) GTEST_SKIP();
  const std::string path = folder_->write("some.map", "2 0\n2 1\n0 0\n0 1\n");
  open({.directory = "tests/mpi/built_3x2", .torus = "", .mapping = path.c_str()});
  expectServed(MPI_COMM_WORLD, "2x2m", "some nodes of 3x2");
  close();
}

TEST_F(Libraries, ChoosesByTheBytesOfTheCall) {
  open();
  torc_geometry* geometry = recognised(MPI_COMM_WORLD);
  torc_choice choice;
  const LibraryEntry& entry = folder_->entry("allreduce", world());
  torc_call call = allreduceOf(2);
  ASSERT_TORC_OK(torc_library_choose(geometry, &call, &choice));
  EXPECT_EQ(choice.kind, TORC_ALLREDUCE);
  EXPECT_EQ(choice.shape, world());
  EXPECT_EQ(choice.file, folder_->fileName("allreduce", world()));
  EXPECT_EQ(choice.lowest_bytes, 8u);
  EXPECT_EQ(choice.highest_bytes, UINT64_MAX);
  EXPECT_DOUBLE_EQ(choice.predicted_s, entry.lowest_s);
  EXPECT_EQ(choice.reason, entry.reason);
  // On along the line, also beyond what was looked at.
  const double slope = (entry.highest_s - entry.lowest_s) / 504;
  call.count = 1000;
  ASSERT_TORC_OK(torc_library_choose(geometry, &call, &choice));
  EXPECT_DOUBLE_EQ(choice.predicted_s, entry.lowest_s + slope * (4000 - 8));

  // The bytes of an allgather are those of all its blocks.
  call = {TORC_ALLGATHER, 1, nullptr, MPI_CHAR, MPI_OP_NULL};
  std::vector<std::int64_t> counts(static_cast<std::size_t>(worldSize()), 0);
  expectError(
      torc_library_choose(geometry, &call, &choice), TORC_ERR_UNSUPPORTED,
      "the library has no allgather of " + std::to_string(worldSize()) + " bytes on " + world());
  EXPECT_EQ(choice.file, nullptr);
  call.count = 2;
  EXPECT_TORC_OK(torc_library_choose(geometry, &call, &choice));
  call.counts = counts.data();
  counts.back() = 7;
  expectError(torc_library_choose(geometry, &call, &choice), TORC_ERR_UNSUPPORTED,
              "no allgather of 7 bytes");
  counts.front() = 1;
  EXPECT_TORC_OK(torc_library_choose(geometry, &call, &choice));
  counts.front() = -1;
  refused(torc_library_choose(geometry, &call, &choice), "counts[0] is -1");
  call = {TORC_ALLREDUCE, 3, nullptr, MPI_INT, MPI_MAXLOC};
  expectError(torc_library_choose(geometry, &call, &choice), TORC_ERR_UNSUPPORTED,
              "MPI_MAXLOC is not defined on datatype MPI_INT");
  EXPECT_TORC_OK(torc_geometry_destroy(geometry));
}

TEST_F(Libraries, SaysWhatItHasAndHolds) {
  open({.memory_limit = 1 << 20});
  torc_library_info info;
  ASSERT_TORC_OK(torc_library_query(library_, &info));
  EXPECT_EQ(info.directory, folder_->path());
  EXPECT_STREQ(info.machine, "generic");
  EXPECT_STREQ(info.version, "0.1.0");
  EXPECT_EQ(info.torus, world());
  EXPECT_STREQ(info.order, "XY");
  EXPECT_EQ(info.nodes, static_cast<std::uint64_t>(worldSize()));
  EXPECT_EQ(info.partitions, folder_->index().partitions.size());
  EXPECT_EQ(info.sub_tori, folder_->index().sub_tori.size());
  EXPECT_EQ(info.entries, folder_->index().entries.size());
  EXPECT_EQ(info.files, folder_->index().files.size());
  EXPECT_EQ(info.files_loaded, 0u);
  EXPECT_EQ(info.bytes_loaded, 0u);
  EXPECT_EQ(info.memory_limit, 1u << 20);

  for (std::uint64_t i = 0; i < info.entries; ++i) {
    torc_choice choice;
    ASSERT_TORC_OK(torc_library_entry(library_, i, &choice));
    EXPECT_EQ(choice.file, folder_->index().files[folder_->index().entries[i].file].name);
    EXPECT_DOUBLE_EQ(choice.predicted_s, folder_->index().entries[i].lowest_s);
  }
  torc_choice choice;
  refused(torc_library_entry(library_, info.entries, &choice), "does not exist");

  // Two geometries share a copy, which stays when both are gone.
  torc_geometry* first = recognised(MPI_COMM_WORLD);
  torc_geometry* second = recognised(MPI_COMM_WORLD);
  expectError(torc_library_close(library_), TORC_ERR_BUSY, "still has 2 geometries");
  const torc_call call = allreduceOf(10);
  torc_schedule *of_first = nullptr, *of_second = nullptr;
  ASSERT_TORC_OK(torc_library_load(first, &call, &of_first));
  ASSERT_TORC_OK(torc_library_query(library_, &info));
  EXPECT_EQ(info.files_loaded, 1u);
  const std::uint64_t bytes =
      std::filesystem::file_size(folder_->schedulePath("allreduce", world()));
  EXPECT_GE(info.bytes_loaded, bytes);
  EXPECT_LT(info.bytes_loaded, bytes + 8);
  // All ranks hold the file: nothing is read.
  folder_->change([&] { std::filesystem::remove(folder_->schedulePath("allreduce", world())); });
  ASSERT_TORC_OK(torc_library_load(second, &call, &of_second));
  ASSERT_TORC_OK(torc_library_query(library_, &info));
  EXPECT_EQ(info.files_loaded, 1u);
  EXPECT_TORC_OK(torc_schedule_free(of_first));
  EXPECT_TORC_OK(torc_geometry_destroy(first));
  EXPECT_TORC_OK(torc_schedule_free(of_second));
  EXPECT_TORC_OK(torc_geometry_destroy(second));
  ASSERT_TORC_OK(torc_library_query(library_, &info));
  EXPECT_EQ(info.files_loaded, 1u);
}

/// Some ranks of a communicator may hold a file that others lack.
TEST_F(Libraries, AFileThatSomeRanksHold) {
  if (worldSize() != 4) GTEST_SKIP();
  open();
  // Rows are lines of two, and so are columns. Row 0 loads first; then the columns, whose first
  // ranks hold the file.
  MPI_Comm row = split(worldRank() / 2, worldRank()), column = split(worldRank() % 2, worldRank());
  torc_schedule* schedule = nullptr;
  const torc_call call = allreduceOf(10);
  torc_geometry* geometry = recognised(row);
  if (worldRank() < 2) {
    ASSERT_TORC_OK(torc_library_load(geometry, &call, &schedule));
    EXPECT_TORC_OK(torc_schedule_free(schedule));
  }
  EXPECT_TORC_OK(torc_geometry_destroy(geometry));
  // Rank 0 of each column sends what it holds: the file is not there any more.
  folder_->change([&] { std::filesystem::remove(folder_->schedulePath("allreduce", "2")); });
  geometry = recognised(column);
  EXPECT_TORC_OK(torc_library_load(geometry, &call, &schedule));
  EXPECT_TORC_OK(torc_schedule_free(schedule));
  expectResults(geometry, column, "columns");
  EXPECT_TORC_OK(torc_geometry_destroy(geometry));
  MPI_Comm_free(&row);
  MPI_Comm_free(&column);
}

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
      expectError(torc_library_load(geometry, &call, &schedule), TORC_ERR_UNSUPPORTED, "");
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
  expectError(torc_geometry_recognise(library_, comm, &geometry), TORC_ERR_UNSUPPORTED,
              "the library has nothing for the sub-torus 3x1 of 4x2");
  MPI_Comm_free(&comm);
}

}  // namespace
}  // namespace torc::runtime
