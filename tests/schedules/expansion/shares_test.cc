// The nested floor division: shares cover the whole without gap or overlap, and are even.
#include "schedules/expansion/shares.h"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "tests/schedules/sample_schedule.h"

namespace torc {
namespace {

constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();

TEST(Shares, ShareDoesNotOverflow) {
  EXPECT_EQ(share(10, 1, 3), 3u);
  EXPECT_EQ(share(10, 3, 3), 10u);
  EXPECT_EQ(share(0, 1, 3), 0u);
  EXPECT_EQ(share(kLargest, kLargest, kLargest), kLargest);
  EXPECT_EQ(share(kLargest, kLargest - 1, kLargest), kLargest - 1);
}

TEST(Shares, FollowOneAnotherAndAreEven) {
  for (const std::uint64_t length : {0ULL, 1ULL, 2ULL, 7ULL, 12ULL, 1000003ULL}) {
    for (const std::uint64_t count : {1ULL, 2ULL, 3ULL, 7ULL, 13ULL}) {
      const Extent whole{5, length};
      std::uint64_t next = whole.offset;
      for (std::uint64_t i = 0; i < count; ++i) {
        const Extent part = shareOf(whole, i, count);
        EXPECT_EQ(part.offset, next);
        EXPECT_GE(part.length, length / count);
        EXPECT_LE(part.length, length / count + (length % count != 0));
        next = part.offset + part.length;
      }
      EXPECT_EQ(next, whole.offset + length);
    }
  }
}

Schedule weighted(const std::vector<Color>& colors) {
  Schedule schedule;
  schedule.topology = *parseTopology("4");
  schedule.colors = colors;
  return schedule;
}

Color color(std::uint64_t weight, std::uint32_t directions, std::uint32_t chunks) {
  Color color;
  color.weight = weight;
  color.directions = directions;
  color.chunks = chunks;
  color.axis_count = 1;
  return color;
}

TEST(PartTable, NumbersPartsLikeTheSchedule) {
  const Schedule schedule = weighted({color(1, 2, 3), color(4, 1, 2)});
  const PartTable table(schedule.view());
  ASSERT_EQ(table.size(), 8u);
  ASSERT_EQ(schedule.view().partCount(), 8u);
  for (std::uint32_t part = 0; part < table.size(); ++part) {
    EXPECT_EQ(table.index(part), schedule.view().partIndex(part));
  }
  EXPECT_EQ(table.index(4), (PartIndex{.color = 0, .direction = 1, .chunk = 1}));
  EXPECT_EQ(table.index(7), (PartIndex{.color = 1, .direction = 0, .chunk = 1}));
}

TEST(PartTable, ColorsBySharesOfTheWeights) {
  const Schedule schedule = weighted({color(1, 1, 1), color(3, 1, 1), color(5, 1, 1)});
  const PartTable table(schedule.view());
  EXPECT_EQ(table.extent(0, {100, 90}), (Extent{100, 10}));
  EXPECT_EQ(table.extent(1, {100, 90}), (Extent{110, 30}));
  EXPECT_EQ(table.extent(2, {100, 90}), (Extent{140, 50}));
}

TEST(PartTable, DirectionsThenChunks) {
  const Schedule schedule = weighted({color(1, 2, 2)});
  const PartTable table(schedule.view());
  EXPECT_EQ(table.extent(0, {0, 40}), (Extent{0, 10}));
  EXPECT_EQ(table.extent(1, {0, 40}), (Extent{10, 10}));
  EXPECT_EQ(table.extent(2, {0, 40}), (Extent{20, 10}));
  EXPECT_EQ(table.extent(3, {0, 40}), (Extent{30, 10}));
}

TEST(PartTable, PartsCoverTheWholeInOrder) {
  const Schedule schedule = weighted({color(7, 2, 3), color(kLargest - 20, 1, 5), color(13, 2, 1)});
  const PartTable table(schedule.view());
  for (const std::uint64_t length :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{97}, std::uint64_t{1} << 40, kLargest}) {
    std::uint64_t next = 0;
    for (std::uint32_t part = 0; part < table.size(); ++part) {
      const Extent extent = table.extent(part, {0, length});
      EXPECT_EQ(extent.offset, next);
      next = extent.offset + extent.length;
    }
    EXPECT_EQ(next, length);
  }
}

}  // namespace
}  // namespace torc
