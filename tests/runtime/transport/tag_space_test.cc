// Tag space: the same ranges on all ranks, and waits for free ranges.
#include "runtime/transport/tag_space.h"

#include <deque>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace torc::runtime {
namespace {

bool overlap(const TagRange& a, const TagRange& b) {
  return a.base < b.base + static_cast<int>(b.count) && b.base < a.base + static_cast<int>(a.count);
}

TEST(TagSpace, RangesLieWithinTheSpaceAndReachBothOfItsEnds) {
  const TagSpace space(1000, 10);
  std::set<int> bases;
  for (std::uint64_t number = 0; number < 1000; ++number) {
    const TagRange range = space.rangeOf(TagSpace::hashOf(17, number), 4);
    ASSERT_GE(range.base, 1000);
    ASSERT_LE(range.base + 4, 1010);
    bases.insert(range.base);
  }
  EXPECT_EQ(bases.size(), 7u);
  EXPECT_EQ(space.rangeOf(TagSpace::hashOf(17, 0), 10).base, 1000) << "the whole space";
}

TEST(TagSpace, CallsThatDifferHaveOtherTags) {
  const TagSpace space(0, 1u << 27);
  std::mt19937_64 random(5);
  std::set<int> bases;
  const std::uint64_t signature = random(), other = random();
  for (std::uint64_t number = 0; number < 1000; ++number) {
    bases.insert(space.rangeOf(TagSpace::hashOf(signature, number), 1).base);
    bases.insert(space.rangeOf(TagSpace::hashOf(other, number), 1).base);
  }
  EXPECT_GE(bases.size(), 1998u);
}

TEST(TagSpace, ACallThatNeedsMoreThanTheSpaceHasNoRoom) {
  const TagSpace space(0, 10);
  EXPECT_TRUE(space.hasRoom(10));
  EXPECT_FALSE(space.hasRoom(11));
}

TEST(TagSpace, ACallWaitsForThoseThatHaveItsTags) {
  TagSpace space(0, 10);
  const TagRange a{0, 4, 1}, b{4, 4, 2}, c{0, 4, 3}, d{6, 2, 4}, none{2, 0, 5};
  space.hold(a);
  EXPECT_TRUE(space.ready(b));
  space.hold(b);
  EXPECT_FALSE(space.ready(c)) << "has the tags of a";
  EXPECT_FALSE(space.ready(d)) << "has tags of b";
  EXPECT_EQ(space.held(), 2u);
  space.release(b);
  EXPECT_FALSE(space.ready(c));
  EXPECT_TRUE(space.ready(d));
  space.release(a);
  EXPECT_TRUE(space.ready(c));
  EXPECT_TRUE(space.ready(none));
  EXPECT_EQ(space.held(), 0u);
}

// Two ranks start the same calls in one order, and complete them in orders of their own.
TEST(TagSpace, RandomCallsGetTheSameRangesEverywhereAndNeverShareTagsWhileTheyRun) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937_64 calls(seed), order(seed + 1000);
    TagSpace mine(7, 64);
    const TagSpace others(7, 64);
    std::deque<TagRange> waiting;
    std::vector<TagRange> running;
    std::size_t started = 0;
    for (std::uint64_t number = 0; number < 300; ++number) {
      const std::uint64_t call = TagSpace::hashOf(calls(), number);
      const auto count = static_cast<std::uint32_t>(calls() % 30);
      waiting.push_back(mine.rangeOf(call, count));
      ASSERT_EQ(waiting.back().base, others.rangeOf(call, count).base);
      // Calls start in their order: one that waits keeps those behind it waiting.
      for (; !waiting.empty() && mine.ready(waiting.front()); waiting.pop_front()) {
        for (const TagRange& other : running)
          ASSERT_FALSE(overlap(waiting.front(), other)) << "seed " << seed << ", call " << number;
        mine.hold(waiting.front());
        running.push_back(waiting.front());
        ++started;
      }
      while (!running.empty() && order() % 3 != 0) {
        const std::size_t which = order() % running.size();
        mine.release(running[which]);
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(which));
      }
    }
    ASSERT_GT(started, 200u) << "calls must get their turn";
    ASSERT_EQ(mine.held(), running.size());
  }
}

}  // namespace
}  // namespace torc::runtime
