// Tag rings: the same ranges on all ranks, laps, and when a call has to wait.
#include "runtime/transport/tag_ring.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace torc {
namespace {

TagRange take(TagRing& ring, std::uint32_t count) {
  StatusOr<TagRange> range = ring.take(count);
  EXPECT_TRUE(range.ok()) << range.status().message();
  return range.ok() ? *range : TagRange{};
}

bool overlap(const TagRange& a, const TagRange& b) {
  return a.base < b.base + static_cast<int>(b.count) && b.base < a.base + static_cast<int>(a.count);
}

TEST(TagRing, RangesFollowOneAnotherAndDoNotCrossTheSeam) {
  TagRing ring(1000, 10);
  EXPECT_EQ(take(ring, 4).base, 1000);
  EXPECT_EQ(take(ring, 4).base, 1004);
  EXPECT_EQ(take(ring, 4).base, 1000) << "two tags are left before the seam";
  EXPECT_EQ(take(ring, 6).base, 1004) << "ends at the seam";
  EXPECT_EQ(take(ring, 10).base, 1000);
  EXPECT_EQ(ring.held(), 5u);
}

TEST(TagRing, ARangeThatIsPassedIsTheOneThatWouldBeTaken) {
  TagRing taken(1000, 10), passed(1000, 10);
  for (const std::uint32_t count : {4u, 4u, 4u, 6u, 10u, 1u, 9u, 10u, 3u, 8u}) {
    const TagRange expected = take(taken, count);
    taken.release(expected);
    const TagRange range = passed.pass(count);
    EXPECT_EQ(range.base, expected.base) << count;
    EXPECT_EQ(range.begin, expected.begin) << count;
    EXPECT_EQ(range.number, expected.number) << count;
    EXPECT_EQ(passed.held(), 0u);
  }
}

TEST(TagRing, ARangeThatIsPassedCanBeHeldUntilItsCallIsComplete) {
  TagRing ring(0, 10);
  ring.pass(4);
  const TagRange range = ring.pass(6);
  ring.hold(range);
  EXPECT_EQ(ring.held(), 1u);
  const TagRange before = take(ring, 4);
  const TagRange again = take(ring, 6);
  EXPECT_TRUE(ring.ready(before));
  EXPECT_FALSE(ring.ready(again)) << "its tags are those of the range that is held";
  ring.release(range);
  EXPECT_TRUE(ring.ready(again));
}

TEST(TagRing, ACallThatNeedsMoreThanTheRingIsRefusedAndTakesNothing) {
  TagRing ring(0, 10);
  const StatusOr<TagRange> range = ring.take(11);
  ASSERT_FALSE(range.ok());
  EXPECT_EQ(range.status().code(), StatusCode::kUnsupported);
  EXPECT_EQ(range.status().message(),
            "the schedule needs 11 message tags, the communicator has 10");
  EXPECT_EQ(take(ring, 10).base, 0);
}

TEST(TagRing, ACallWaitsForThoseThatHaveItsTags) {
  TagRing ring(0, 10);
  const TagRange a = take(ring, 4), b = take(ring, 4), c = take(ring, 4), d = take(ring, 2);
  EXPECT_TRUE(ring.ready(a));
  EXPECT_TRUE(ring.ready(b));
  EXPECT_FALSE(ring.ready(c)) << "has the tags of a";
  EXPECT_FALSE(ring.ready(d)) << "has tags of b";
  ring.release(b);
  EXPECT_FALSE(ring.ready(c));
  ring.release(a);
  EXPECT_TRUE(ring.ready(c));
  EXPECT_TRUE(ring.ready(d));
  ring.release(d);
  ring.release(c);
  EXPECT_EQ(ring.held(), 0u);
}

TEST(TagRing, ACallWithoutMessagesNeverWaitsAtTheStart) {
  TagRing ring(0, 10);
  const TagRange whole = take(ring, 10), none = take(ring, 0);
  EXPECT_TRUE(ring.ready(none));
  ring.release(whole);
  ring.release(none);
}

// Two ranks take the same counts and complete in orders of their own.
TEST(TagRing, RandomCallsGetTheSameRangesEverywhereAndNeverShareTagsWhileTheyRun) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 counts(seed), order(seed + 1000);
    TagRing mine(7, 64), others(7, 64);
    std::vector<TagRange> waiting, running;
    std::size_t started = 0;
    for (int call = 0; call < 300; ++call) {
      const std::uint32_t count = counts() % 30;
      const TagRange range = take(mine, count), there = take(others, count);
      ASSERT_EQ(range.base, there.base);
      ASSERT_GE(range.base, 7);
      ASSERT_LE(range.base + static_cast<int>(count), 7 + 64);
      others.release(there);
      waiting.push_back(range);
      for (std::size_t i = 0; i < waiting.size();) {
        if (!mine.ready(waiting[i])) {
          ++i;
          continue;
        }
        for (const TagRange& other : running)
          ASSERT_FALSE(overlap(waiting[i], other)) << "seed " << seed << ", call " << call;
        for (std::size_t before = 0; before < i; ++before)
          ASSERT_FALSE(overlap(waiting[i], waiting[before])) << "overtakes an earlier call";
        running.push_back(waiting[i]);
        waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(i));
        ++started;
      }
      while (!running.empty() && order() % 3 != 0) {
        const std::size_t which = order() % running.size();
        mine.release(running[which]);
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(which));
      }
    }
    ASSERT_GT(started, 250u) << "calls must get their turn";
    ASSERT_EQ(mine.held(), running.size() + waiting.size());
  }
}

}  // namespace
}  // namespace torc
