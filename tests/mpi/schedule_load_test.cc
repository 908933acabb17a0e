// Loads in the background, as the interposer makes them: they wait for nobody, run side
// by side on several communicators in whatever order they were started, and fail alike on all
// ranks.
#include "runtime/job/schedule_load.h"

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "tests/mpi/library_folder.h"

namespace torc::runtime {
namespace {

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
