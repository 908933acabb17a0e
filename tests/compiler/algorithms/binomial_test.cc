// The trees on a ring of binomial, Bine and flat trees, and of those with two arms: their edges,
// counted.
#include <algorithm>
#include <bit>
#include <cstdlib>

#include <gtest/gtest.h>
#include <llvm/ADT/STLExtras.h>

#include "compiler/algorithms/trees/ring_tree.h"

namespace torc::compiler {
namespace {

TEST(RingTrees, ReachEveryNodeOnceFromOneThatHasBeenReached) {
  for (const auto tree_of : {binomialTree, bineTree, twoArmTree, flatTree}) {
    for (std::uint32_t size = 1; size <= 130; ++size) {
      std::vector<bool> reached(size);
      reached[0] = true;
      std::uint32_t count = 1;
      const RingTree tree = tree_of(size);
      for (const auto& round : tree) {
        std::vector<bool> busy(size);
        const std::vector<bool> before = reached;
        for (const auto& [parent, child] : round) {
          EXPECT_TRUE(before[parent]) << size;
          EXPECT_FALSE(busy[parent]) << size << ": two messages in a round";
          EXPECT_FALSE(reached[child]) << size;
          busy[parent] = reached[child] = true;
          ++count;
        }
      }
      EXPECT_EQ(count, size);
      if (tree_of == flatTree) continue;
      const bool odd_bine = tree_of == bineTree && size % 2 == 1 && size > 1;
      EXPECT_LE(tree.size(), std::bit_width(size - 1) + (odd_bine ? 1u : 0u)) << size;
    }
  }
}

TEST(RingTrees, AreThoseOfThePapers) {
  EXPECT_EQ(binomialTree(6), (RingTree{{{0, 4}}, {{0, 2}}, {{0, 1}, {2, 3}, {4, 5}}}));
  EXPECT_EQ(bineTree(8), (RingTree{{{0, 3}}, {{0, 7}, {3, 4}}, {{0, 1}, {3, 2}, {7, 6}, {4, 5}}}));
}

TEST(RingTrees, HaveTwoArms) {
  EXPECT_EQ(twoArmTree(8),
            (RingTree{{{0, 1}}, {{1, 3}, {0, 6}}, {{1, 2}, {3, 4}, {0, 7}, {6, 5}}}));
  EXPECT_EQ(arcsOf(twoArmTree(8), 8),
            (std::vector<RingArc>{{5, 8}, {1, 4}, {2, 1}, {3, 2}, {4, 1}, {5, 1}, {5, 2}, {7, 1}}));
}

TEST(RingTrees, OfTwoArmsMakeNoDetour) {
  for (std::uint32_t size = 1; size <= 130; ++size) {
    const RingTree tree = twoArmTree(size);
    std::vector<std::uint32_t> gone(size);
    for (const auto& round : tree) {
      for (const RingTreeEdge& edge : round) {
        gone[edge.child] =
            gone[edge.parent] + static_cast<std::uint32_t>(std::abs(distanceOf(edge, size)));
      }
    }
    for (std::uint32_t node = 0; node < size; ++node)
      EXPECT_EQ(gone[node], std::min(node, size - node)) << node << " of " << size;
  }
}

// What a node stands for are it and what its children stand for.
TEST(RingTrees, HaveArcs) {
  for (const auto tree_of : {binomialTree, twoArmTree}) {
    for (std::uint32_t size = 1; size <= 130; ++size) {
      const RingTree tree = tree_of(size);
      const std::vector<RingArc> arcs = arcsOf(tree, size);
      std::vector<std::uint32_t> behind(size, 1);
      for (const auto& round : llvm::reverse(tree)) {
        for (const auto& [parent, child] : round) {
          behind[parent] += behind[child];
          for (std::uint32_t k = 0; k < arcs[child].count; ++k) {
            const std::uint32_t node = (arcs[child].first + k) % size;
            EXPECT_LT(wrap(std::int64_t{node} - arcs[parent].first, size), arcs[parent].count);
          }
        }
      }
      for (std::uint32_t node = 0; node < size; ++node)
        EXPECT_EQ(arcs[node].count, behind[node]) << node << " of " << size;
    }
  }
}

/// The sum of the distances of a tree's messages, the shorter way round.
std::uint64_t distances(const RingTree& tree, std::uint32_t size) {
  std::uint64_t sum = 0;
  for (const auto& round : tree) {
    for (const auto& [parent, child] : round) {
      const std::uint32_t up = wrap(std::int64_t{child} - parent, size);
      sum += std::min(up, size - up);
    }
  }
  return sum;
}

TEST(RingTrees, BineMessagesGoLessFar) {
  for (std::uint32_t size = 8; size <= 1024; size *= 2)
    EXPECT_LT(distances(bineTree(size), size), distances(binomialTree(size), size)) << size;
}

}  // namespace
}  // namespace torc::compiler
