// Schedules held in memory: shared, bounded, with eviction of the least recently used. Candidates
// of autotuning.
#include "runtime/job/schedule_cache.h"

#include <utility>

#include <gtest/gtest.h>

#include "runtime/job/contenders.h"
#include "tests/schedules/sample_schedule.h"

namespace torc::runtime {
namespace {

LoadedSchedule loaded() {
  StatusOr<LoadedSchedule> schedule =
      readSchedule(writeSchedule(samples::ringAllreduce(4).view()), "sample");
  EXPECT_TRUE(schedule.ok()) << schedule.status().message();
  return std::move(*schedule);
}

class Cache : public testing::Test {
 protected:
  /// As a load does it.
  std::shared_ptr<const LoadedSchedule> put(ScheduleCache& cache, std::uint32_t file) {
    EXPECT_EQ(cache.reserve(bytes_).message(), "");
    return cache.add(file, bytes_, loaded());
  }
  const std::uint64_t bytes_ = loaded().bytes();
};

TEST_F(Cache, HoldsOneCopyOfAFile) {
  ScheduleCache cache(10 * bytes_);
  EXPECT_EQ(cache.find(3), nullptr);
  const auto first = put(cache, 3);
  EXPECT_EQ(cache.find(3), first);
  EXPECT_EQ(cache.files(), 1u);
  EXPECT_EQ(cache.bytes(), bytes_);
  EXPECT_EQ(put(cache, 3), first);  // two communicators loaded it at a time
  EXPECT_EQ(cache.files(), 1u);
  EXPECT_EQ(cache.bytes(), bytes_);
}

TEST_F(Cache, TheLongestUnusedGiveWay) {
  ScheduleCache cache(3 * bytes_);
  for (const std::uint32_t file : {0u, 1u, 2u})
    put(cache, file);
  EXPECT_NE(cache.find(0), nullptr);  // used again
  put(cache, 3);
  EXPECT_EQ(cache.files(), 3u);
  EXPECT_EQ(cache.find(1), nullptr);
  EXPECT_NE(cache.find(0), nullptr);
  EXPECT_NE(cache.find(2), nullptr);
  EXPECT_NE(cache.find(3), nullptr);
}

TEST_F(Cache, WhatIsInUseStays) {
  ScheduleCache cache(2 * bytes_);
  auto first = put(cache, 0);
  auto second = put(cache, 1);
  const Status full = cache.reserve(bytes_);
  EXPECT_EQ(full.code(), StatusCode::kNoMemory);
  EXPECT_EQ(full.message(), "no room for " + std::to_string(bytes_) + " bytes: " +
                                std::to_string(2 * bytes_) + " of " + std::to_string(2 * bytes_) +
                                " bytes for schedules are in use (TORC_LIMITS=memory)");
  EXPECT_EQ(cache.files(), 2u);
  second.reset();
  EXPECT_EQ(put(cache, 2)->bytes(), bytes_);
  EXPECT_EQ(cache.find(1), nullptr);
  EXPECT_EQ(cache.find(0), first);
}

TEST_F(Cache, ReservationsCount) {
  ScheduleCache cache(2 * bytes_);
  ASSERT_TRUE(cache.reserve(bytes_).ok());
  ASSERT_TRUE(cache.reserve(bytes_).ok());
  EXPECT_FALSE(cache.reserve(1).ok());
  cache.cancel(bytes_);
  EXPECT_TRUE(cache.reserve(bytes_).ok());
  EXPECT_FALSE(ScheduleCache(10).reserve(11).ok());
  EXPECT_FALSE(ScheduleCache(10).reserve(UINT64_MAX).ok());
}

using Files = std::vector<std::uint32_t>;

LibraryIndex index() {
  LibraryIndex index;
  const auto add = [&](std::uint32_t shape, std::uint64_t lowest, std::uint64_t highest,
                       std::uint32_t file) {
    LibraryEntry entry;
    entry.shape = shape;
    entry.collective = Collective::kAllreduce;
    entry.lowest = lowest;
    entry.highest = highest;
    entry.file = file;
    index.entries.push_back(entry);
  };
  add(0, 1, kOpenEnd, 8);
  add(1, kNoSize, kNoSize, 7);
  add(1, 1, 1023, 5);
  add(1, 1024, 65535, 3);
  add(1, 65536, 1 << 20, 5);  // again
  add(1, (1 << 20) + 1, kOpenEnd, 1);
  index.candidates = {{0, Collective::kAllreduce, 0},
                      {1, Collective::kAllgather, 2},
                      {1, Collective::kAllreduce, 1},
                      {1, Collective::kAllreduce, 4},
                      {1, Collective::kAllreduce, 6}};
  return index;
}

TEST(Contenders, TheNearestSizesComeFirstThenCandidatesEachOnce) {
  EXPECT_EQ(contenders(index(), 1, Collective::kAllreduce, 100), (Files{5, 3, 7, 1, 4, 6}));
  EXPECT_EQ(contenders(index(), 1, Collective::kAllreduce, 2000), (Files{3, 5, 1, 7, 4, 6}));
  EXPECT_EQ(contenders(index(), 1, Collective::kAllreduce, 1 << 30), (Files{1, 5, 3, 7, 4, 6}));
}

TEST(Contenders, OnlyThoseOfTheCollectiveAndShape) {
  EXPECT_EQ(contenders(index(), 0, Collective::kAllreduce, 8), (Files{8, 0}));
  EXPECT_EQ(contenders(index(), 1, Collective::kAllgather, 8), (Files{2}));
  EXPECT_EQ(contenders(index(), 0, Collective::kAllgather, 8), Files{});
}

TEST(Contenders, AreLoadedByEntriesOfASize) {
  const LibraryEntry entry = entryOfContender(1, Collective::kAllgather, 2);
  EXPECT_EQ(entry.shape, 1u);
  EXPECT_EQ(entry.collective, Collective::kAllgather);
  EXPECT_EQ(entry.file, 2u);
  EXPECT_GT(entry.lowest, kNoSize);
}

}  // namespace
}  // namespace torc::runtime
