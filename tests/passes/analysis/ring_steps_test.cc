// Ring steps simulated on the nodes of one axis: sends meet their receives, and after d-1 steps
// every node has the result of the collective; on half-latency rings after d/2 steps. Rounds
// simulated on the nodes of an axis: sums meet once at each owner, messages have the paper's
// distances, and mirror images are mirror images.
#include "passes/analysis/ring_steps.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "passes/analysis/ring_rounds.h"

namespace torc::passes {
namespace {

struct Case {
  AxisKind kind;
  std::uint32_t size, direction;
};

std::vector<Case> cases() {
  std::vector<Case> cases;
  for (std::uint32_t size = 2; size <= 9; ++size) {
    cases.push_back({AxisKind::kTorus, size, 0});
    cases.push_back({AxisKind::kTorus, size, 1});
    cases.push_back({AxisKind::kMesh, size, 0});
    cases.push_back({AxisKind::kCore, size, 1});
  }
  return cases;
}

Axis axisOf(const Case& test_case) {
  Axis axis;
  axis.size = test_case.size;
  axis.kind = test_case.kind;
  return axis;
}

bool includes(const Nodes& nodes, std::int32_t x) {
  return nodes.first <= x && x <= nodes.last;
}

/// A message on its way: receiver, sender, block.
using Message = std::tuple<std::int32_t, std::int32_t, std::int32_t>;

/// Plays one step: what is sent must be what is received, between the same nodes. Returns the
/// messages.
std::set<Message> play(const Case& test_case, const RingStep& step) {
  const auto size = static_cast<std::int32_t>(test_case.size);
  const bool wraps = axisOf(test_case).wraps();
  auto at = [&](std::int32_t x) { return !wraps ? x : ((x % size) + size) % size; };
  std::set<Message> sent, received;
  for (const LineStep& line : step) {
    for (std::int32_t x = 0; x < size; ++x) {
      if (includes(line.senders, x)) sent.insert({at(x + line.sign), x, at(x + line.sent)});
      if (includes(line.receivers, x)) {
        received.insert({x, at(x - line.sign), at(x + line.received)});
      }
    }
  }
  EXPECT_EQ(sent, received);
  for (const auto& [to, from, block] : sent) {
    EXPECT_TRUE(to >= 0 && to < size && block >= 0 && block < size) << "outside the axis";
  }
  return sent;
}

// Sources are the senders that have received nothing of the block.
TEST(RingSteps, ReduceScatterCountsEveryContributionOnce) {
  for (const Case& test_case : cases()) {
    const Axis axis = axisOf(test_case);
    const auto size = static_cast<std::int32_t>(axis.size);
    // Contributions that a node has to a block: its own to begin with.
    std::map<std::pair<std::int32_t, std::int32_t>, std::multiset<std::int32_t>> has;
    for (std::int32_t x = 0; x < size; ++x) {
      for (std::int32_t block = 0; block < size; ++block)
        has[{x, block}] = {x};
    }
    for (std::uint32_t s = 0; s + 1 < axis.size; ++s) {
      const RingStep step = ringStep(ir::PlanKind::kRingReduceScatter, axis.size, !axis.wraps(),
                                     test_case.direction, s);
      const auto before = has;
      for (const LineStep& line : step) {
        for (std::int32_t x = 0; x < size; ++x) {
          if (!includes(line.senders, x)) continue;
          const std::int32_t block = ((x + line.sent) % size + size) % size;
          EXPECT_EQ(includes(line.sources, x), (before.at({x, block}).size() == 1))
              << "node " << x << " of " << size << ", step " << s;
        }
      }
      for (const auto& [to, from, block] : play(test_case, step)) {
        const auto& arriving = before.at({from, block});
        has[{to, block}].insert(arriving.begin(), arriving.end());
      }
    }
    std::multiset<std::int32_t> all;
    for (std::int32_t x = 0; x < size; ++x)
      all.insert(x);
    for (std::int32_t x = 0; x < size; ++x) {
      EXPECT_EQ((has[{x, x}]), all) << "node " << x << " of " << size;
    }
  }
}

TEST(RingSteps, AllgatherBringsEveryBlockOnce) {
  for (const Case& test_case : cases()) {
    const Axis axis = axisOf(test_case);
    const auto size = static_cast<std::int32_t>(axis.size);
    std::vector<std::set<std::int32_t>> has(axis.size);
    for (std::int32_t x = 0; x < size; ++x)
      has[x] = {x};
    for (std::uint32_t k = 0; k + 1 < axis.size; ++k) {
      const RingStep step =
          ringStep(ir::PlanKind::kRingAllgather, axis.size, !axis.wraps(), test_case.direction, k);
      const auto before = has;
      for (const auto& [to, from, block] : play(test_case, step)) {
        EXPECT_TRUE(before[from].count(block)) << "node " << from << " lacks block " << block;
        EXPECT_TRUE(has[to].insert(block).second) << "node " << to << " has block " << block;
      }
    }
    for (std::int32_t x = 0; x < size; ++x)
      EXPECT_EQ(has[x].size(), axis.size);
  }
}

/// Blocks by node; of each block its two halves.
using Halves = std::map<std::tuple<std::int32_t, std::int32_t, int>, std::multiset<std::int32_t>>;

/// Plays one step of half the steps around a ring: what arrives at (node, block, half).
Halves playHalves(std::int32_t size, const RingStep& step, const Halves& has) {
  const auto at = [&](std::int32_t x) { return ((x % size) + size) % size; };
  Halves arrived;
  for (const LineStep& line : step) {
    for (std::int32_t x = 0; x < size; ++x) {
      EXPECT_TRUE(includes(line.senders, x) && includes(line.receivers, x));
      EXPECT_EQ(at(x + line.sent), at(x + line.sign + line.received)) << "other than expected";
      for (int half = 0; half < 2; ++half) {
        if (line.half && half != (line.sign > 0 ? 0 : 1)) continue;
        const std::int32_t block = at(x + line.sent);
        const auto sent = has.find({x, block, half});
        EXPECT_NE(sent, has.end()) << "node " << x << " lacks block " << block;
        if (sent == has.end()) continue;
        arrived[{at(x + line.sign), block, half}].insert(sent->second.begin(), sent->second.end());
      }
    }
  }
  return arrived;
}

TEST(HalfLatencySteps, ReduceScatterCountsEveryContributionOnceAndAllgatherEveryBlock) {
  for (std::int32_t size = 2; size <= 9; ++size) {
    Halves sums, blocks;
    std::multiset<std::int32_t> all;
    for (std::int32_t x = 0; x < size; ++x) {
      all.insert(x);
      for (int half = 0; half < 2; ++half) {
        blocks[{x, x, half}] = {x};
        for (std::int32_t block = 0; block < size; ++block)
          sums[{x, block, half}] = {x};
      }
    }
    const auto ring = static_cast<std::uint32_t>(size);
    for (std::uint32_t s = 0; s < ring / 2; ++s) {
      for (const auto& [key, contributions] :
           playHalves(size, halfLatencyStep(ir::PlanKind::kRingReduceScatter, ring, s), sums)) {
        sums[key].insert(contributions.begin(), contributions.end());
      }
      for (const auto& [key, block] :
           playHalves(size, halfLatencyStep(ir::PlanKind::kRingAllgather, ring, s), blocks)) {
        EXPECT_EQ(block.size(), 1u) << "from both sides";
        EXPECT_TRUE(blocks.emplace(key, block).second) << "a block comes twice";
      }
    }
    EXPECT_EQ(blocks.size(), std::size_t{2} * ring * ring);
    for (std::int32_t x = 0; x < size; ++x) {
      for (int half = 0; half < 2; ++half)
        EXPECT_EQ((sums[{x, x, half}]), all) << "node " << x << " of " << size;
    }
  }
}

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
