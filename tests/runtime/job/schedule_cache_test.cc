// Schedules held in memory: shared, bounded, the longest unused give way.
#include "runtime/job/schedule_cache.h"

#include <utility>

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace torc::runtime
