// Errors of sets of nodes that are no boxes; boxes over the end, damaged and large ones.
// Those that are boxes, and the order of members: sub_torus_properties_test.cc.
#include "schedules/sub_torus/sub_torus.h"

#include <algorithm>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "tests/schedules/sample_schedule.h"

namespace torc {
namespace {

StatusOr<SubTorus> recognise(const Topology& partition, const std::vector<Coordinates>& members) {
  std::vector<std::int32_t> sites;
  for (const Coordinates& member : members)
    sites.push_back(partition.siteOf(member));
  return recogniseSubTorus(partition, sites);
}

SubTorus recognised(const Topology& partition, const std::vector<Coordinates>& members) {
  const StatusOr<SubTorus> box = recognise(partition, members);
  EXPECT_TRUE(box.ok()) << box.status().message();
  return box.ok() ? *box : SubTorus{};
}

std::string reason(const Topology& partition, const std::vector<Coordinates>& members,
                   StatusCode code = StatusCode::kUnsupported) {
  const StatusOr<SubTorus> box = recognise(partition, members);
  if (box.ok()) return "";
  EXPECT_EQ(box.status().code(), code);
  return box.status().message();
}

std::vector<std::int32_t> orderOf(const SubTorus& box) {
  return {box.order.begin(), box.order.begin() + box.order_count};
}

TEST(SubTorus, ABoxGoesRoundATorusButNotAMesh) {
  const std::vector<Coordinates> ends = {{3}, {0}};
  const SubTorus pair = recognised(samples::parsed("4"), ends);
  EXPECT_EQ(pair.start, (Coordinates{3}));
  EXPECT_EQ(pair.extents, (Extents{2}));
  EXPECT_TRUE(pair.ordered);
  EXPECT_EQ(reason(samples::parsed("4m"), ends),
            "2 ranks do not fill the box 4 from (0): (1) is missing");
}

TEST(SubTorus, ARingMayBeginAnywhere) {
  const SubTorus ring = recognised(samples::parsed("5"), {{3}, {4}, {0}, {1}, {2}});
  EXPECT_EQ(ring.start, (Coordinates{3}));
  EXPECT_TRUE(ring.ordered);
  const SubTorus line = recognised(samples::parsed("3m"), {{1}, {2}, {0}});
  EXPECT_EQ(line.start, (Coordinates{0}));
  EXPECT_FALSE(line.ordered);
  EXPECT_EQ(line.table, (std::vector<std::int32_t>{1, 2, 0}));
}

TEST(SubTorus, WhatIsMissingIsNamed) {
  std::vector<Coordinates> members;
  for (std::int32_t y = 0; y < 4; ++y) {
    for (std::int32_t x = 0; x < 2; ++x)
      members.push_back({x, y, 0});
  }
  members.pop_back();
  EXPECT_EQ(reason(samples::parsed("4x4x4"), members),
            "7 ranks do not fill the box 2x4x1 from (0, 0, 0): (1, 3, 0) is missing");
  EXPECT_EQ(reason(samples::parsed("9mx9m"), {{0, 0}, {8, 8}}),
            "2 ranks do not fill the box 9x9 from (0, 0): (1, 0) is missing");
  EXPECT_EQ(reason(samples::parsed("4x3+4"), {{1, 0, 2}, {3, 0, 2}}),
            "2 ranks do not fill the box 3x1+1 from (1, 0, 2): (2, 0, 2) is missing");
}

TEST(SubTorus, TwoRanksOfOneNodeAreNoBox) {
  EXPECT_EQ(reason(samples::parsed("4x3"), {{1, 0}, {2, 0}, {1, 0}}, StatusCode::kInvalidArgument),
            "ranks 0 and 2 both lie at (1, 0)");
  EXPECT_EQ(reason(samples::parsed("2"), {{1}, {1}}, StatusCode::kInvalidArgument),
            "ranks 0 and 1 both lie at (1)");
}

TEST(SubTorus, MembersMustLieInThePartition) {
  EXPECT_EQ(reason(samples::parsed("4x3"), {}, StatusCode::kInvalidArgument),
            "there are no ranks to recognise");
  const std::vector<std::int32_t> sites = {0, 12};
  EXPECT_EQ(recogniseSubTorus(samples::parsed("4x3"), sites).status().message(),
            "rank 1 lies outside the torus 4x3");
}

/// A line of one communicator in a long ring: no memory of the ring's size.
TEST(SubTorus, FewRanksOfALongRing) {
  const Topology ring = samples::parsed("2147483647");
  const SubTorus pair = recognised(ring, {{2147483646}, {0}});
  EXPECT_EQ(pair.start, (Coordinates{2147483646}));
  EXPECT_EQ(pair.extents, (Extents{2}));
  EXPECT_EQ(reason(ring, {{0}, {1000000000}}),
            "2 ranks do not fill the box 1000000001 from (0): (1) is missing");
}

TEST(SubTorus, TheWholePartitionNeedsNoList) {
  for (const auto& [shape, order] : {std::pair("4x3x2", "YXZ"), std::pair("1x5m+2", "TYX")}) {
    const Topology partition = samples::parsed(shape, order);
    std::vector<std::int32_t> sites(partition.ranks());
    std::iota(sites.begin(), sites.end(), 0);
    const StatusOr<SubTorus> whole = recogniseSubTorus(partition, sites);
    ASSERT_TRUE(whole.ok()) << whole.status().message();
    EXPECT_EQ(*whole, wholePartition(partition));
  }
}

class DamagedSubTorus : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(partition_.addDeadNode({1, 1}).ok());
    ASSERT_TRUE(partition_.addDeadLink({{3, 0}, 0}).ok());
  }
  Topology partition_ = samples::parsed("4x3", "YX");
};

TEST_F(DamagedSubTorus, TheWholeIsItsLiveNodes) {
  std::vector<std::int32_t> sites;
  for (std::int32_t rank = 0; rank < 11; ++rank)
    sites.push_back(partition_.siteOf(partition_.coordinatesOf(rank)));
  const StatusOr<SubTorus> whole = recogniseSubTorus(partition_, sites);
  ASSERT_TRUE(whole.ok()) << whole.status().message();
  EXPECT_EQ(*whole, wholePartition(partition_));
  // Another order of axes, and another beginning, which is no order: damage stays where it is.
  std::ranges::sort(sites, {}, [&](std::int32_t site) {
    const Coordinates at = partition_.coordinatesOfSite(site);
    return at[0] + 4 * at[1];
  });
  EXPECT_EQ(orderOf(*recogniseSubTorus(partition_, sites)), (std::vector<std::int32_t>{0, 1}));
  std::ranges::rotate(sites, sites.begin() + 1);
  const StatusOr<SubTorus> rotated = recogniseSubTorus(partition_, sites);
  ASSERT_TRUE(rotated.ok()) << rotated.status().message();
  EXPECT_EQ(rotated->start, Coordinates{});
  EXPECT_FALSE(rotated->ordered);
  ASSERT_EQ(rotated->table.size(), 11u);
  EXPECT_EQ(rotated->positionOf(0), (Coordinates{1, 0}));
}

TEST_F(DamagedSubTorus, AnOrderIsFoundBehindADeadFirstNode) {
  Topology partition = samples::parsed("2x2x2");
  ASSERT_TRUE(partition.addDeadNode({0, 0, 0}).ok());
  ASSERT_TRUE(partition.addDeadNode({1, 0, 0}).ok());
  const SubTorus whole =
      recognised(partition, {{0, 1, 0}, {1, 1, 0}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}});
  EXPECT_TRUE(whole.ordered);
  EXPECT_EQ(orderOf(whole), (std::vector<std::int32_t>{0, 1, 2}));
}

TEST_F(DamagedSubTorus, BoxesWithDamageAreRefused) {
  EXPECT_EQ(reason(partition_, {{0, 1}, {2, 1}, {3, 1}}), "");  // round the torus, past the damage
  EXPECT_EQ(reason(partition_, {{0, 1}, {2, 1}}),
            "2 ranks do not fill the box 3x1 from (0, 1): (1, 1) is a dead node");
  EXPECT_EQ(reason(partition_, {{0, 0}, {1, 0}, {2, 0}, {3, 0}}),
            "the box 4x1 from (0, 0) contains the dead link (3, 0)X");
  EXPECT_EQ(reason(partition_, {{3, 0}, {0, 0}}),
            "the box 2x1 from (3, 0) contains the dead link (3, 0)X");
  EXPECT_EQ(reason(partition_, {{0, 0}, {1, 0}, {2, 0}}), "");
  EXPECT_EQ(reason(partition_, {{0, 2}, {1, 2}, {2, 2}, {3, 2}}), "");
  EXPECT_EQ(reason(partition_, {{0, 0}, {1, 1}}, StatusCode::kInvalidArgument),
            "rank 1 lies at the dead node (1, 1)");
}

/// Recognition of a full machine, in any order, is a matter of milliseconds.
TEST(SubTorus, SixtyFourThousandNodes) {
  const Topology partition = samples::parsed("64x32x32");
  std::vector<std::int32_t> sites(partition.ranks());
  std::iota(sites.begin(), sites.end(), 0);
  EXPECT_EQ(*recogniseSubTorus(partition, sites), wholePartition(partition));
  std::mt19937 random(1);
  std::ranges::shuffle(sites, random);
  const StatusOr<SubTorus> shuffled = recogniseSubTorus(partition, sites);
  ASSERT_TRUE(shuffled.ok()) << shuffled.status().message();
  EXPECT_EQ(shuffled->table.size(), sites.size());
}

}  // namespace
}  // namespace torc
