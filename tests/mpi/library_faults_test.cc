// Faults of a library, of its files and of ranks' arguments: every rank gets the same code and
// text, and no rank hangs. Loads in the background, as made by the interposer: they wait for no
// rank, run side by side on several communicators in any order of starts, and fail alike on all
// ranks.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "runtime/job/schedule_load.h"
#include "tests/mpi/library_folder.h"

namespace torc::runtime {
namespace {

class LibraryFaults : public LibraryTest {
 protected:
  /// Opening fails everywhere, with one text.
  void expectNotOpened(OpenOptions options, int code, const std::string& text) {
    const std::string torus = shapeOfWorld();
    if (options.directory == nullptr) options.directory = folder_->path().c_str();
    if (options.torus == nullptr) options.torus = torus.c_str();
    const torc_library_options value = options.value();
    torc_library* library = nullptr;
    expectError(torc_library_open(context_, MPI_COMM_WORLD, &value, &library), code, text);
    EXPECT_EQ(library, nullptr);
    expectSameTextEverywhere();
  }
  /// Loading an allreduce on the world fails everywhere; then it works with the file restored.
  void expectNotLoaded(int code, const std::string& text) {
    torc_geometry* geometry = recognised(MPI_COMM_WORLD);
    const torc_call call = allreduceOf(10);
    torc_schedule* schedule = nullptr;
    expectError(torc_library_load(geometry, &call, &schedule), code, text);
    EXPECT_EQ(schedule, nullptr);
    expectSameTextEverywhere();
    folder_->restore();
    expectResults(geometry, MPI_COMM_WORLD, "afterwards");
    EXPECT_TORC_OK(torc_geometry_destroy(geometry));
  }
  std::string worldFile() const { return folder_->schedulePath("allreduce", shapeOfWorld()); }
};

TEST_F(LibraryFaults, AFolderThatIsNoLibrary) {
  expectNotOpened({.directory = "/nowhere/lib"}, TORC_ERR_IO,
                  "rank 0: cannot read '/nowhere/lib/index.torc': No such file or directory");
  const std::string file = folder_->write("file", "text");
  expectNotOpened({.directory = file.c_str()}, TORC_ERR_IO, "Not a directory");
  expectNotOpened({.directory = ""}, TORC_ERR_ARGUMENT, "no folder is given");
  folder_->change([&] { std::filesystem::remove(manifestPath(folder_->path())); });
  expectNotOpened({}, TORC_ERR_IO, "manifest.json': No such file or directory");
}

TEST_F(LibraryFaults, ATornOrAlteredIndex) {
  const std::string path = indexPath(folder_->path());
  const std::string good = contentsOf(path);
  for (const std::size_t length : {std::size_t{0}, std::size_t{5}, good.size() - 1}) {
    folder_->write("index.torc", good.substr(0, length));
    expectNotOpened({}, TORC_ERR_MALFORMED, "/index.torc: ");
  }
  std::string altered = good;
  altered[altered.size() / 2] ^= 1;
  folder_->write("index.torc", altered);
  expectNotOpened({}, TORC_ERR_MALFORMED, "/index.torc: ");
  folder_->write("index.torc", good);
  open();
}

TEST_F(LibraryFaults, AStaleIndex) {
  folder_->write("manifest.json", "{ }\n");
  expectNotOpened({}, TORC_ERR_MISMATCH, "/index.torc: the index is stale");
}

// What contradicts what, knows tests/runtime/job/job_mapping_test.cc.
TEST_F(LibraryFaults, AJobThatDoesNotFit) {
  const std::string map = folder_->write("job.map", "0 0\n1 0\n0 0\n");
  expectNotOpened({.machine = "bgq"}, TORC_ERR_MISMATCH,
                  "the library is for machine 'generic', not 'bgq'");
  expectNotOpened({.torus = "5x5"}, TORC_ERR_MISMATCH,
                  "torus 5x5 is no partition of the library, which has ");
  expectNotOpened({.order = "XYZ"}, TORC_ERR_ARGUMENT, "order 'XYZ'");
  expectNotOpened({.mapping = map.c_str()}, TORC_ERR_MALFORMED,
                  "job.map:3: (0, 0) has a rank already, on line 1");
  expectNotOpened({.mapping = "/nowhere/job.map"}, TORC_ERR_IO,
                  "cannot read '/nowhere/job.map': No such file or directory");
  open({.machine = "generic"});
}

TEST_F(LibraryFaults, RanksThatDisagree) {
  const std::string last = std::to_string(worldSize() - 1);
  expectNotOpened({.directory = isLastRank() ? "/elsewhere" : folder_->path().c_str()},
                  TORC_ERR_MISMATCH, "the library's folder differs between rank ");
  expectNotOpened({.order = isLastRank() ? "YX" : nullptr}, TORC_ERR_MISMATCH,
                  "the torus or order of ranks differs between rank ");
  expectNotOpened({.machine = isLastRank() ? "generic" : nullptr}, TORC_ERR_MISMATCH,
                  "the machine differs between rank ");
  expectNotOpened(
      {.memory_limit = isLastRank() ? std::uint64_t{5} : 4}, TORC_ERR_MISMATCH,
      "the memory limit for schedules differs between ranks: 4 on rank 0, 5 on rank " + last);
  torc_library* library = nullptr;
  const std::string directory = folder_->path(), torus = shapeOfWorld();
  const torc_library_options options =
      OpenOptions{.directory = directory.c_str(), .torus = torus.c_str()}.value();
  refused(torc_library_open(context_, MPI_COMM_WORLD, isLastRank() ? nullptr : &options, &library),
          "rank " + last + ": options is NULL");
  refused(torc_library_open(nullptr, MPI_COMM_WORLD, &options, &library), "context is NULL");
}

TEST_F(LibraryFaults, RanksThatCallDifferently) {
  open();
  torc_geometry* geometry = recognised(MPI_COMM_WORLD);
  torc_call call = allreduceOf(10);
  if (isLastRank()) call = {TORC_REDUCE_SCATTER, 10, nullptr, MPI_INT, MPI_SUM};
  torc_schedule* schedule = nullptr;
  expectError(torc_library_load(geometry, &call, &schedule), TORC_ERR_MISMATCH,
              "the entry of the library differs between ranks");
  expectSameTextEverywhere();
  refused(torc_library_load(geometry, isLastRank() ? nullptr : &call, &schedule), "call is NULL");
  EXPECT_TORC_OK(torc_geometry_destroy(geometry));
  // Without a library nothing can be chosen.
  ASSERT_TORC_OK(torc_geometry_create(context_, MPI_COMM_WORLD, nullptr, nullptr, &geometry));
  refused(torc_library_load(geometry, &call, &schedule),
          "the geometry was not recognised by a library");
  EXPECT_TORC_OK(torc_geometry_destroy(geometry));
}

TEST_F(LibraryFaults, ARemovedFile) {
  open();
  folder_->change([&] { std::filesystem::remove(worldFile()); });
  expectNotLoaded(TORC_ERR_IO, "No such file or directory");
}

TEST_F(LibraryFaults, ATornFile) {
  open();
  const std::uint64_t bytes = contentsOf(worldFile()).size();
  folder_->change([&] { std::filesystem::resize_file(worldFile(), bytes / 2); });
  expectNotLoaded(TORC_ERR_MALFORMED, "has " + std::to_string(bytes / 2) +
                                          " bytes, the index says " + std::to_string(bytes));
}

TEST_F(LibraryFaults, AnAlteredFile) {
  open();
  std::string content = contentsOf(worldFile());
  content[content.size() / 2] ^= 8;
  folder_->write("files/" + folder_->fileName("allreduce", shapeOfWorld()), content);
  expectNotLoaded(TORC_ERR_MALFORMED, "the file is damaged, or of another library");
}

/// The index names a file that is sound, but of another collective.
TEST_F(LibraryFaults, AnIndexThatNamesTheWrongFile) {
  LibraryIndex index = folder_->index();
  const std::string world = shapeOfWorld();
  const std::uint32_t right = folder_->entry("allreduce", world).file;
  const std::uint32_t wrong = folder_->entry("allgather", world).file;
  for (LibraryEntry& entry : index.entries) {
    if (entry.file == right) entry.file = wrong;
  }
  const std::vector<std::byte> bytes = writeLibraryIndex(index);
  folder_->write("index.torc",
                 std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  open();
  torc_geometry* geometry = recognised(MPI_COMM_WORLD);
  const torc_call call = allreduceOf(10);
  torc_schedule* schedule = nullptr;
  expectError(torc_library_load(geometry, &call, &schedule), TORC_ERR_MISMATCH,
              "is one for allgather on " + world + ", the index says allreduce on " + world);
  expectSameTextEverywhere();
  torc_library_info info;
  ASSERT_TORC_OK(torc_library_query(library_, &info));
  EXPECT_EQ(info.files_loaded, 0u);
  EXPECT_TORC_OK(torc_geometry_destroy(geometry));
}

TEST_F(LibraryFaults, NoRoomUnderTheLimit) {
  const std::uint64_t allreduce = contentsOf(worldFile()).size();
  const std::uint64_t other =
      contentsOf(folder_->schedulePath("reduce_scatter", shapeOfWorld())).size();
  // Room for either, but not for both.
  const std::uint64_t limit = std::max(allreduce, other) + 16;
  ASSERT_LT(limit, allreduce + other);
  open({.memory_limit = limit});
  torc_geometry* geometry = recognised(MPI_COMM_WORLD);
  const torc_call first = allreduceOf(10);
  const torc_call second = {TORC_REDUCE_SCATTER, 10, nullptr, MPI_INT, MPI_SUM};
  torc_schedule *in_use = nullptr, *more = nullptr;
  ASSERT_TORC_OK(torc_library_load(geometry, &first, &in_use));
  expectError(torc_library_load(geometry, &second, &more), TORC_ERR_MEMORY,
              folder_->fileName("reduce_scatter", shapeOfWorld()) + ": no room for " +
                  std::to_string(other) + " bytes");
  expectSameTextEverywhere();
  // Once nobody uses it, the first gives way.
  EXPECT_TORC_OK(torc_schedule_free(in_use));
  ASSERT_TORC_OK(torc_library_load(geometry, &second, &more));
  torc_library_info info;
  ASSERT_TORC_OK(torc_library_query(library_, &info));
  EXPECT_EQ(info.files_loaded, 1u);
  EXPECT_LE(info.bytes_loaded, limit);
  EXPECT_TORC_OK(torc_schedule_free(more));
  EXPECT_TORC_OK(torc_geometry_destroy(geometry));
}

/// One rank's memory is full, the others' is not: the load fails on all.
TEST_F(LibraryFaults, NoRoomOnOneRank) {
  if (worldSize() != 4) GTEST_SKIP();
  const std::uint64_t whole = contentsOf(worldFile()).size();
  const std::uint64_t line = contentsOf(folder_->schedulePath("allreduce", "2")).size();
  open({.memory_limit = std::max(whole, line) + 16});
  MPI_Comm row = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, worldRank() / 2, worldRank(), &row);
  torc_geometry* of_row = recognised(row);
  torc_geometry* geometry = recognised(MPI_COMM_WORLD);
  const torc_call call = allreduceOf(10);
  torc_schedule *held = nullptr, *schedule = nullptr;
  if (worldRank() >= 2) {
    ASSERT_TORC_OK(torc_library_load(of_row, &call, &held));
  }
  expectError(torc_library_load(geometry, &call, &schedule), TORC_ERR_MEMORY, "rank 2: ");
  expectSameTextEverywhere();
  EXPECT_TORC_OK(torc_schedule_free(held));
  EXPECT_TORC_OK(torc_library_load(geometry, &call, &schedule));
  EXPECT_TORC_OK(torc_schedule_free(schedule));
  EXPECT_TORC_OK(torc_geometry_destroy(geometry));
  EXPECT_TORC_OK(torc_geometry_destroy(of_row));
  MPI_Comm_free(&row);
}

/// A geometry over a duplicate of `comm`, without a step that all ranks agree on.
std::unique_ptr<torc_geometry> laid(torc_library& library, MPI_Comm comm) {
  Recognition found = library.recognise(comm);
  EXPECT_EQ(found.reason, "");
  MPI_Comm duplicate = MPI_COMM_NULL;
  MPI_Comm_dup(comm, &duplicate);
  auto geometry = torc_geometry::over(library.context, duplicate, found.topology,
                                      std::move(found.map), library.hosts);
  EXPECT_TRUE(geometry.ok()) << geometry.status().message();
  return std::move(*geometry);
}

class Loads : public LibraryTest {
 protected:
  void SetUp() override {
    LibraryTest::SetUp();
    if (IsSkipped()) return;
    open();
    MPI_Comm row = MPI_COMM_NULL;
    const int width = worldSize() == 6 ? 3 : 2;
    MPI_Comm_split(MPI_COMM_WORLD, worldRank() / width, worldRank(), &row);
    world_ = laid(*library_, MPI_COMM_WORLD);
    row_ = laid(*library_, row);
    MPI_Comm_free(&row);
  }
  void TearDown() override {
    world_.reset();
    row_.reset();
    LibraryTest::TearDown();
  }

  const LibraryEntry& entry(const torc_geometry& geometry, Collective collective) {
    const std::string shape = geometry.topology->shape();
    for (std::uint32_t i = 0; i < library_->shapes.size(); ++i) {
      if (library_->shapes[i] == shape) return *library_->index.findEntry(i, collective, 1000);
    }
    ADD_FAILURE() << shape;
    return library_->index.entries.front();
  }
  std::unique_ptr<ScheduleLoad> load(torc_geometry& geometry, Collective collective) {
    return std::make_unique<ScheduleLoad>(*library_, geometry, entry(geometry, collective));
  }

  std::unique_ptr<torc_geometry> world_, row_;
};

void finish(const std::vector<ScheduleLoad*>& loads) {
  for (bool done = false; !done;) {
    done = true;
    for (ScheduleLoad* load : loads)
      done &= load->advance();
  }
}

void expectLoaded(ScheduleLoad& load, Collective collective) {
  const StatusOr<torc_schedule*> schedule = load.take();
  ASSERT_TRUE(schedule.ok()) << schedule.status().message();
  EXPECT_EQ((*schedule)->view().collective, collective);
  EXPECT_TORC_OK(torc_schedule_free(*schedule));
}

TEST_F(Loads, WaitForNobody) {
  std::unique_ptr<ScheduleLoad> pending;
  if (worldRank() > 0) {
    pending = load(*world_, Collective::kAllreduce);
    // Rank 0 is not here, and yet every look returns.
    for (int i = 0; i < 100; ++i)
      EXPECT_FALSE(pending->advance());
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (worldRank() == 0) pending = load(*world_, Collective::kAllreduce);
  finish({pending.get()});
  EXPECT_TRUE(pending->done());
  expectLoaded(*pending, Collective::kAllreduce);
}

TEST_F(Loads, OnSeveralCommunicatorsInAnyOrder) {
  std::unique_ptr<ScheduleLoad> of_world, of_row;
  if (worldRank() % 2 == 0) {
    of_world = load(*world_, Collective::kAllgather);
    of_row = load(*row_, Collective::kAllgather);
  } else {
    of_row = load(*row_, Collective::kAllgather);
    of_world = load(*world_, Collective::kAllgather);
  }
  finish({of_world.get(), of_row.get()});
  expectLoaded(*of_row, Collective::kAllgather);
  expectLoaded(*of_world, Collective::kAllgather);
  EXPECT_EQ(library_->cache.files(), 2u);
}

TEST_F(Loads, OneAfterTheOtherOnOneCommunicator) {
  for (const Collective collective :
       {Collective::kAllreduce, Collective::kReduceScatter, Collective::kAllreduce}) {
    const auto next = load(*world_, collective);
    finish({next.get()});
    expectLoaded(*next, collective);
  }
  EXPECT_EQ(library_->cache.files(), 2u);
}

TEST_F(Loads, FailOnAllRanksWhereTheirEntriesDiffer) {
  const auto differing =
      load(*world_, worldRank() == 1 ? Collective::kReduceScatter : Collective::kAllreduce);
  finish({differing.get()});
  EXPECT_TRUE(differing->entriesDiffer());
  const StatusOr<torc_schedule*> schedule = differing->take();
  ASSERT_FALSE(schedule.ok());
  EXPECT_EQ(schedule.status().code(), StatusCode::kMismatch);
  // The communicator can load what all of them mean.
  const auto next = load(*world_, Collective::kAllgather);
  finish({next.get()});
  expectLoaded(*next, Collective::kAllgather);
}

TEST_F(Loads, OneThatNobodyTakes) {
  const auto forgotten = load(*world_, Collective::kAllreduce);
  finish({forgotten.get()});
  EXPECT_EQ(world_->schedules, 1);
}

TEST_F(Loads, OneFailsWhileAnotherGoesOn) {
  const LibraryFile& file = library_->index.files[entry(*world_, Collective::kAllreduce).file];
  folder_->change([&] { std::filesystem::remove(libraryFilePath(folder_->path(), file.name)); });
  const auto failing = load(*world_, Collective::kAllreduce);
  const auto other = load(*row_, Collective::kReduceScatter);
  finish({failing.get(), other.get()});
  const StatusOr<torc_schedule*> schedule = failing->take();
  ASSERT_FALSE(schedule.ok());
  EXPECT_EQ(schedule.status().code(), StatusCode::kIo);
  EXPECT_EQ(schedule.status().message(), "cannot read '" +
                                             libraryFilePath(folder_->path(), file.name) +
                                             "': No such file or directory");
  expectLoaded(*other, Collective::kReduceScatter);
  EXPECT_EQ(world_->schedules, 0);
  // What was set aside for it is free again.
  EXPECT_TRUE(library_->cache.reserve(library_->cache.limit() - library_->cache.bytes()).ok());
  library_->cache.cancel(library_->cache.limit() - library_->cache.bytes());
}

}  // namespace
}  // namespace torc::runtime
