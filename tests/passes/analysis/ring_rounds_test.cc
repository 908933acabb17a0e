// Rounds played on the nodes of an axis: sums meet once at each owner, messages go as far as the
// paper says, and mirror images are mirror images.
#include "passes/analysis/ring_rounds.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <vector>

#include <gtest/gtest.h>

namespace torc::passes {
namespace {

using Rounds = std::vector<RingRound> (*)(std::uint32_t, bool, std::uint32_t);

/// Plays them: what a node has of a block is how often each node's contribution is in it.
void expectSumsAtOwners(Rounds rounds_of, std::uint32_t size, bool wraps, std::uint32_t direction) {
  using Sum = std::vector<int>;  // by contributor
  std::vector<std::vector<Sum>> has(size, std::vector<Sum>(size, Sum(size, 0)));
  for (std::uint32_t node = 0; node < size; ++node) {
    for (std::uint32_t block = 0; block < size; ++block)
      has[node][block][node] = 1;
  }
  for (const RingRound& round : rounds_of(size, wraps, direction)) {
    const auto before = has;
    for (const RingMessage& message : round) {
      ASSERT_LT(message.to, size);
      ASSERT_NE(message.from, message.to);
      const auto moved = std::int64_t{message.from} + message.moves;
      EXPECT_EQ(wraps ? (moved + size) % size : moved, std::int64_t{message.to});
      EXPECT_LE(wraps ? 2 * std::abs(message.moves) : 0, static_cast<std::int32_t>(size));
      EXPECT_TRUE(std::ranges::is_sorted(message.blocks));
      EXPECT_FALSE(message.blocks.empty());
      for (const std::uint32_t block : message.blocks) {
        for (std::uint32_t k = 0; k < size; ++k) {
          has[message.to][block][k] += before[message.from][block][k];
          has[message.from][block][k] -= before[message.from][block][k];
        }
      }
    }
  }
  for (std::uint32_t node = 0; node < size; ++node)
    EXPECT_EQ(has[node][node], Sum(size, 1)) << "node " << node << " of " << size;
}

TEST(RingRounds, EverySumIsWholeAtItsOwner) {
  for (std::uint32_t size = 2; size <= 40; ++size) {
    for (const Rounds rounds : {swingRounds, groupRounds}) {
      for (const bool wraps : {true, false}) {
        for (const std::uint32_t direction : {0u, 1u})
          expectSumsAtOwners(rounds, size, wraps, direction);
      }
    }
  }
}

// delta(s) = (2^(s+1) + (-1)^s) / 3 hops; on a power of two each node sends half of what it has.
TEST(RingRounds, SwingsAsFarAsThePaperSays) {
  const std::vector<int> hops = {1, 1, 3, 5, 11, 21};
  for (std::uint32_t size = 4; size <= 64; size *= 2) {
    const auto rounds = swingRounds(size, true, 0);
    ASSERT_EQ(rounds.size(), static_cast<std::size_t>(std::countr_zero(size)));
    for (std::size_t s = 0; s < rounds.size(); ++s) {
      EXPECT_EQ(rounds[s].size(), size);
      for (const RingMessage& message : rounds[s]) {
        EXPECT_EQ(std::abs(message.moves), hops[s]) << size << ", round " << s;
        EXPECT_EQ(message.blocks.size(), size >> (s + 1));
      }
    }
  }
}

TEST(RingRounds, AreLogarithmsOfTheLength) {
  for (std::uint32_t size = 2; size <= 200; ++size) {
    const std::uint32_t even = size - size % 2;
    EXPECT_EQ(swingRounds(size, true, 0).size(), std::bit_width(even - 1)) << size;
  }
  EXPECT_EQ(groupRounds(8, true, 0).size(), 1u);
  EXPECT_EQ(groupRounds(16, true, 0).size(), 2u);
  EXPECT_EQ(groupRounds(32, true, 0).size(), 2u);
  EXPECT_EQ(groupRounds(7, true, 0).size(), 1u);
  EXPECT_EQ(groupRounds(26, true, 0).size(), 2u);
}

TEST(RingRounds, DirectionsMirrorEachOther) {
  for (const Rounds of : {swingRounds, groupRounds}) {
    const auto up = of(12, true, 0), down = of(12, true, 1);
    ASSERT_EQ(up.size(), down.size());
    for (std::size_t s = 0; s < up.size(); ++s) {
      std::map<int, int> ups, downs;  // messages by the way they go
      for (const RingMessage& message : up[s])
        ++ups[message.moves];
      for (const RingMessage& message : down[s])
        ++downs[-message.moves];
      EXPECT_EQ(ups, downs);
    }
  }
}

}  // namespace
}  // namespace torc::passes
