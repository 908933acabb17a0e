// Cyclic ranges against sets of coordinates, over every pair of ranges of small rings.
// Spans against sets of pairs of node and coordinate, for random spans of small axes.
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "ir/verifier/box_algebra.h"
#include "ir/verifier/span.h"

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

using Pairs = std::set<std::pair<std::uint32_t, std::uint32_t>>;  // node, coordinate

Pairs pairsOf(const NodeSpan& given, std::uint32_t size) {
  Pairs pairs;
  for (std::uint32_t k = 0; k < given.nodes.length; ++k) {
    const Range range = rangeAt(given.span, k, size);
    for (std::uint32_t i = 0; i < range.length; ++i)
      pairs.insert({(given.nodes.start + k) % size, (range.start + i) % size});
  }
  return pairs;
}

/// The pairs of all of them, which have to be disjoint and, where all nodes are, of one length.
Pairs unionOf(const NodeSpans& list, std::uint32_t size) {
  Pairs all;
  for (const NodeSpan& one : list) {
    EXPECT_TRUE(one.nodes.length < size || one.span.length_slope == 0 || size == 1);
    for (const auto& pair : pairsOf(one, size))
      EXPECT_TRUE(all.insert(pair).second) << "not disjoint";
  }
  return all;
}

class Drawer {
 public:
  std::uint32_t number(std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random_() % (high - low + 1));
  }
  Range nodes(std::uint32_t size) {
    const std::uint32_t length = number(1, size);
    return {length == size ? 0 : number(0, size - 1), length};
  }
  /// A span as schedules make them, standing still or going with the node, or any other.
  Span span(std::uint32_t nodes, std::uint32_t size) {
    for (;;) {
      Span span{number(0, size - 1), number(1, size), number(0, 2) % size,
                static_cast<std::int32_t>(number(0, 2)) - 1};
      if (nodes == size) span.length_slope = 0;
      const std::int64_t last =
          span.length + std::int64_t{span.length_slope} * (std::int64_t{nodes} - 1);
      if (last >= 1 && last <= size) return from(span, 0, nodes, size);  // in its normal form
    }
  }
  NodeSpan nodeSpan(std::uint32_t size) {
    const Range drawn = nodes(size);
    return {drawn, span(drawn.length, size)};
  }

 private:
  std::mt19937 random_{7};
};

constexpr int kRounds = 40'000;

TEST(Span, IntersectionAndDifference) {
  Drawer draw;
  ProofWork work{0, ~std::uint64_t{0}};
  for (int round = 0; round < kRounds; ++round) {
    const std::uint32_t size = draw.number(1, 7);
    const NodeSpan a = draw.nodeSpan(size);
    const NodeSpan b = draw.nodeSpan(size);
    Pairs common, only_a;
    for (const auto& pair : pairsOf(a, size))
      (pairsOf(b, size).count(pair) ? common : only_a).insert(pair);
    EXPECT_EQ(unionOf(intersect(a, b, size, work), size), common);
    EXPECT_EQ(unionOf(subtract(a, b, size, work), size), only_a);
    EXPECT_EQ(volume(a.span, a.nodes.length), pairsOf(a, size).size());
  }
}

TEST(Span, FirstOverlap) {
  Drawer draw;
  ProofWork work{0, ~std::uint64_t{0}};
  for (int round = 0; round < kRounds; ++round) {
    const std::uint32_t size = draw.number(1, 7);
    const std::uint32_t nodes = draw.number(1, size);
    const Span a = draw.span(nodes, size);
    const Span b = draw.span(nodes, size);
    std::uint32_t first = 0;
    while (first < nodes && !overlaps(rangeAt(a, first, size), rangeAt(b, first, size), size))
      ++first;
    EXPECT_EQ(firstOverlap(a, b, nodes, size, work), first);
  }
}

TEST(Span, JoinIsTheUnionOfBoth) {
  Drawer draw;
  int joined = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint32_t size = draw.number(1, 7);
    const Range nodes = draw.nodes(size);
    const Span a = draw.span(nodes.length, size);
    const Span b = draw.span(nodes.length, size);
    Span both = a;
    if (!join(both, b, nodes.length, size)) continue;
    ++joined;
    Pairs expected = pairsOf({nodes, a}, size);
    for (const auto& pair : pairsOf({nodes, b}, size))
      EXPECT_TRUE(expected.insert(pair).second) << "they overlap";
    EXPECT_EQ(pairsOf({nodes, both}, size), expected);
  }
  EXPECT_GT(joined, kRounds / 100);
}

TEST(Span, ExtensionIsBothInARow) {
  Drawer draw;
  int extended = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint32_t size = draw.number(2, 7);
    const std::uint32_t nodes = draw.number(1, size - 1);
    const std::uint32_t more = draw.number(1, size - nodes);
    const Span a = draw.span(nodes, size);
    const Span b = draw.span(more, size);
    Span whole = a;
    if (!extend(whole, nodes, b, more, size)) {
      EXPECT_EQ(whole, a);
      continue;
    }
    ++extended;
    for (std::uint32_t k = 0; k < nodes + more; ++k) {
      const Range expected = k < nodes ? rangeAt(a, k, size) : rangeAt(b, k - nodes, size);
      EXPECT_EQ(rangeAt(whole, k, size), expected);
    }
  }
  EXPECT_GT(extended, kRounds / 100);
}

TEST(Span, WhatMovesAlikeIsOneSpanWhateverTheNumberOfNodes) {
  ProofWork work{0, ~std::uint64_t{0}};
  const Range nodes{1, 62};
  // x-1:3 and x:9 meet in x:2; 0 to x, node by node, without x alone is 0 to x-1.
  const NodeSpan a{nodes, spanOf(Interval::relative(-1, 3), nodes, 64)};
  const NodeSpan b{nodes, spanOf(Interval::relative(0, 9), nodes, 64)};
  ASSERT_EQ(intersect(a, b, 64, work).size(), 1u);
  EXPECT_EQ(intersect(a, b, 64, work)[0].span, spanOf(Interval::relative(0, 2), nodes, 64));
  const NodeSpan prefix{nodes, {0, 2, 0, 1}};
  const NodeSpan own{nodes, spanOf(Interval::relative(0), nodes, 64)};
  const NodeSpans rest = subtract(prefix, own, 64, work);
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0].nodes, nodes);
  EXPECT_EQ(rest[0].span, (Span{0, 1, 0, 1}));
}

}  // namespace
}  // namespace torc::ir
