// Cyclic ranges against sets of coordinates, over every pair of ranges of small rings.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "ir/verifier/box_algebra.h"

namespace torc::ir {
namespace {

/// The coordinates of a range as bits.
std::uint64_t bits(const Range& range, std::uint32_t size) {
  std::uint64_t set = 0;
  for (std::uint32_t i = 0; i < range.length; ++i)
    set |= 1ull << ((range.start + i) % size);
  return set;
}

std::vector<Range> allRanges(std::uint32_t size) {
  std::vector<Range> ranges{{0, size}};
  for (std::uint32_t length = 1; length < size; ++length) {
    for (std::uint32_t start = 0; start < size; ++start)
      ranges.push_back({start, length});
  }
  return ranges;
}

template <typename Visit>
void forEachPair(Visit visit) {
  for (std::uint32_t size = 1; size <= 7; ++size) {
    for (const Range& a : allRanges(size)) {
      for (const Range& b : allRanges(size))
        visit(a, b, size);
    }
  }
}

template <typename List>
std::uint64_t unionOfDisjoint(const List& list, std::uint32_t size) {
  std::uint64_t set = 0;
  for (const Range& range : list) {
    EXPECT_GT(range.length, 0u);
    EXPECT_EQ(set & bits(range, size), 0u) << "ranges of a result overlap";
    set |= bits(range, size);
  }
  return set;
}

TEST(Ranges, IntersectAndSubtractAreThoseOfSets) {
  forEachPair([](const Range& a, const Range& b, std::uint32_t size) {
    EXPECT_EQ(unionOfDisjoint(intersect(a, b, size), size), bits(a, size) & bits(b, size));
    EXPECT_EQ(unionOfDisjoint(subtract(a, b, size), size), bits(a, size) & ~bits(b, size));
    EXPECT_EQ(overlaps(a, b, size), (bits(a, size) & bits(b, size)) != 0);
  });
}

TEST(Ranges, JoinsExactlyDisjointNeighbours) {
  forEachPair([](const Range& a, const Range& b, std::uint32_t size) {
    const std::uint64_t together = bits(a, size) | bits(b, size);
    bool one_range = false;
    for (const Range& range : allRanges(size))
      one_range |= bits(range, size) == together;
    const bool disjoint = (bits(a, size) & bits(b, size)) == 0;
    Range joined = a;
    ASSERT_EQ(join(joined, b, size), disjoint && one_range);
    if (disjoint && one_range) {
      EXPECT_EQ(bits(joined, size), together);
      EXPECT_TRUE(joined.length < size || joined.start == 0);
    }
  });
}

TEST(Ranges, ShiftMovesEveryCoordinate) {
  for (std::uint32_t size = 1; size <= 7; ++size) {
    for (const Range& a : allRanges(size)) {
      for (int distance = -9; distance <= 9; ++distance) {
        std::uint64_t moved = 0;
        for (std::uint32_t x = 0; x < size; ++x) {
          if (bits(a, size) >> x & 1) moved |= 1ull << wrap(std::int64_t{x} + distance, size);
        }
        EXPECT_EQ(bits(shifted(a, distance, size), size), moved);
      }
    }
  }
}

/// All blocks of a 5 x 4 ring that the boxes of `list` hold; fails where two boxes share one.
std::vector<bool> blocksOf(const RangesList& list, const Topology& topology) {
  std::vector<bool> held(topology.ranks(), false);
  for (const Ranges& box : list) {
    for (std::uint32_t rank = 0; rank < topology.ranks(); ++rank) {
      const Coordinates at = topology.coordinatesOf(static_cast<std::int32_t>(rank));
      bool inside = true;
      for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
        inside =
            inside && contains(box[i], static_cast<std::uint32_t>(at[i]), topology.axes[i].size);
      }
      if (!inside) continue;
      EXPECT_FALSE(held[rank]) << "boxes of a result overlap";
      held[rank] = true;
    }
  }
  return held;
}

TEST(Ranges, BoxesIntersectAndSubtractLikeSets) {
  const Topology topology = *parseTopology("5x4");
  for (const Range& ax : allRanges(5)) {
    for (const Range& ay : {Range{0, 4}, Range{1, 2}, Range{3, 2}, Range{3, 3}}) {
      for (const Range& bx : allRanges(5)) {
        for (const Range& by : {Range{0, 4}, Range{2, 1}, Range{0, 3}, Range{2, 3}}) {
          const Ranges a{ax, ay}, b{bx, by};
          RangesList common, left;
          intersect(a, b, topology, common);
          subtract(a, b, topology, left);
          const auto in_a = blocksOf({a}, topology), in_b = blocksOf({b}, topology);
          const auto in_common = blocksOf(common, topology), in_left = blocksOf(left, topology);
          for (std::size_t r = 0; r < in_a.size(); ++r) {
            ASSERT_EQ(in_common[r], in_a[r] && in_b[r]);
            ASSERT_EQ(in_left[r], in_a[r] && !in_b[r]);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace torc::ir
