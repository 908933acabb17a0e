// Ring steps played on the nodes of one axis: sends meet their receives, and after d-1 steps every
// node has what the collective demands; on half-latency rings after d/2 steps.
#include "passes/analysis/ring_steps.h"

#include <map>
#include <set>

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace torc::passes
