// Boxes: each question about a cyclic range is compared with the set of its coordinates.
#include "schedules/box.h"

#include <limits>
#include <set>

#include <gtest/gtest.h>

namespace torc {
namespace {

std::set<std::uint32_t> coordinatesOf(const Range& range, std::uint32_t size) {
  std::set<std::uint32_t> coordinates;
  for (std::uint32_t i = 0; i < range.length; ++i)
    coordinates.insert((range.start + i) % size);
  return coordinates;
}

std::vector<Range> allRanges(std::uint32_t size) {
  std::vector<Range> ranges = {{0, size}};
  for (std::uint32_t start = 0; start < size; ++start) {
    for (std::uint32_t length = 1; length < size; ++length)
      ranges.push_back({start, length});
  }
  return ranges;
}

TEST(Box, Wrap) {
  EXPECT_EQ(wrap(-1, 4), 3u);
  EXPECT_EQ(wrap(-4, 4), 0u);
  EXPECT_EQ(wrap(9, 4), 1u);
  EXPECT_EQ(wrap(std::numeric_limits<std::int64_t>::min(), 1), 0u);
  EXPECT_EQ(wrap(-1, 0xffffffffu), 0xfffffffeu);
}

TEST(Box, ResolveInterval) {
  EXPECT_EQ(resolve(Interval::all(), 3, 5), (Range{0, 5}));
  EXPECT_EQ(resolve(Interval::absolute(2, 2), 3, 5), (Range{2, 2}));
  EXPECT_EQ(resolve(Interval::absolute(4, 3), 3, 5), (Range{4, 3}));
  EXPECT_EQ(resolve(Interval::relative(0), 3, 5), (Range{3, 1}));
  EXPECT_EQ(resolve(Interval::relative(-4), 3, 5), (Range{4, 1}));
  EXPECT_EQ(resolve(Interval::relative(7, 2), 3, 5), (Range{0, 2}));
  EXPECT_EQ(resolve(Interval::relative(2, 5), 3, 5), (Range{0, 5})) << "full length starts at 0";
  constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min();
  EXPECT_EQ(resolve(Interval::relative(kLeast), 3, 5), (Range{wrap(3LL + kLeast, 5), 1}));
}

TEST(Box, ResolveTakesTheCoordinateOfEachAxis) {
  const Topology topology = *parseTopology("4x3x2");
  Box box;
  box[0] = Interval::relative(1);
  box[2] = Interval::relative(1);
  const Ranges ranges = resolve(box, topology, {3, 1, 0});
  EXPECT_EQ(ranges[0], (Range{0, 1}));
  EXPECT_EQ(ranges[1], (Range{0, 3}));
  EXPECT_EQ(ranges[2], (Range{1, 1}));
  EXPECT_EQ(ranges[3], (Range{})) << "no such axis";
  EXPECT_EQ(volume(ranges, topology), 3u);
}

TEST(Box, ContainsAgreesWithTheSet) {
  for (std::uint32_t size = 1; size <= 6; ++size) {
    for (const Range& range : allRanges(size)) {
      for (std::uint32_t c = 0; c < size; ++c) {
        EXPECT_EQ(contains(range, c, size), coordinatesOf(range, size).contains(c))
            << range.start << ":" << range.length << " of " << size << ", " << c;
      }
    }
  }
}

TEST(Box, Admits) {
  const Topology topology = *parseTopology("4x3m");
  Box guard;
  EXPECT_TRUE(admits(guard, topology, {3, 2}));
  guard[0] = Interval::absolute(3, 2);  // 3 and 0
  guard[1] = Interval::absolute(1, 2);
  EXPECT_TRUE(admits(guard, topology, {3, 1}));
  EXPECT_TRUE(admits(guard, topology, {0, 2}));
  EXPECT_FALSE(admits(guard, topology, {1, 1}));
  EXPECT_FALSE(admits(guard, topology, {3, 0}));
}

TEST(Box, VolumeOfManyNodes) {
  const Topology topology = *parseTopology("1024x1024x1024");
  EXPECT_EQ(volume(resolve(Box{}, topology, {}), topology), std::uint64_t{1} << 30);
}

}  // namespace
}  // namespace torc
