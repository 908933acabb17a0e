// Every link of an axis has one round, and no node two pairs in a round.
#include "runtime/run/calibration/link_rounds.h"

#include <set>

namespace torc::runtime {
namespace {

Axis axisOf(std::uint32_t size, AxisKind kind) {
  Axis axis;
  axis.size = size;
  axis.kind = kind;
  return axis;
}

class LinkRounds : public testing::TestWithParam<AxisKind> {};

TEST_P(LinkRounds, EveryLinkHasOneRoundAndNoNodeTwoPairs) {
  for (std::uint32_t size = 1; size <= 9; ++size) {
    const Axis axis = axisOf(size, GetParam());
    const auto nodes = static_cast<std::int32_t>(size);
    std::set<std::int32_t> links;  // by low end
    for (int round = 0; round < linkRounds(axis); ++round) {
      for (std::int32_t at = 0; at < nodes; ++at) {
        const LinkEnd up = linkEnd(axis, (at + 1) % nodes, round);
        const bool is_low = linkEnd(axis, at, round) == LinkEnd::kLow;
        EXPECT_EQ(is_low, up == LinkEnd::kHigh) << size << " nodes, round " << round << ", " << at;
        if (is_low) {
          EXPECT_TRUE(links.insert(at).second) << size << " nodes, " << at << " has two rounds";
        }
      }
    }
    const bool closes = size > 2 && GetParam() == AxisKind::kTorus;
    EXPECT_EQ(links.size(), closes ? size : size - 1) << size << " nodes";
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, LinkRounds, testing::Values(AxisKind::kTorus, AxisKind::kMesh));

TEST(LinkRounds, DoNotGrowWithTheAxis) {
  EXPECT_EQ(linkRounds(axisOf(100000, AxisKind::kTorus)), 2);
  EXPECT_EQ(linkRounds(axisOf(99999, AxisKind::kTorus)), 3);
  EXPECT_EQ(linkRounds(axisOf(99999, AxisKind::kMesh)), 2);
}

TEST(LinkRounds, FarthestNode) {
  EXPECT_EQ(farthest(axisOf(1, AxisKind::kTorus)), 0);
  EXPECT_EQ(farthest(axisOf(5, AxisKind::kTorus)), 2);
  EXPECT_EQ(farthest(axisOf(8, AxisKind::kTorus)), 4);
  EXPECT_EQ(farthest(axisOf(8, AxisKind::kMesh)), 7);
}

TEST(LinkRounds, LinksOfANode) {
  EXPECT_EQ(linksOfNode(*parseTopology("4x3m")), 4);
  EXPECT_EQ(linksOfNode(*parseTopology("2x2mx1+4")), 3);
  EXPECT_EQ(linksOfNode(*parseTopology("1+4")), 0);
}

}  // namespace
}  // namespace torc::runtime
