// Errors for sets of nodes that are no boxes; boxes across the end of an axis, damaged and large
// ones. Properties of random boxes, and the order of members. Random boxes of random tori, in every
// order of axes and shuffled, and damaged tori: the box is recognised, every member has its
// original place, and its rank in the sub-torus's topology has the member's place in the partition.
#include "schedules/sub_torus/sub_torus.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "schedules/box.h"
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

std::vector<std::int32_t> sitesOf(const Topology& partition,
                                  const std::vector<Coordinates>& members) {
  std::vector<std::int32_t> sites;
  for (const Coordinates& member : members)
    sites.push_back(partition.siteOf(member));
  return sites;
}

Topology drawPartition() {
  std::string shape;
  const int dimensions = *rc::gen::inRange(1, 5);
  for (int i = 0; i < dimensions; ++i) {
    shape += (i > 0 ? "x" : "") + std::to_string(*rc::gen::inRange(1, 6));
    if (*rc::gen::arbitrary<bool>()) shape += "m";
  }
  if (*rc::gen::arbitrary<bool>()) shape += "+" + std::to_string(*rc::gen::inRange(1, 5));
  Topology partition = *parseTopology(shape);
  std::vector<std::uint8_t> order(partition.order.begin(),
                                  partition.order.begin() + partition.axis_count);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[*rc::gen::inRange<std::size_t>(0, i)]);
  std::ranges::copy(order, partition.order.begin());
  RC_LOG() << "torus " << partition.shape() << " order " << partition.orderString() << "\n";
  return partition;
}

struct DrawnBox {
  Coordinates start{};
  Extents extents{};
  std::vector<std::uint8_t> order;  // of the axes with more than one node
  std::vector<Coordinates> members;
};

/// A box with its members by an order of axes.
DrawnBox drawBox(const Topology& partition) {
  DrawnBox box;
  std::size_t count = 1;
  for (std::uint32_t i = 0; i < partition.axis_count; ++i) {
    const Axis& axis = partition.axes[i];
    const auto size = static_cast<std::int32_t>(axis.size);
    const std::int32_t extent = *rc::gen::inRange(1, size + 1);
    const bool cyclic = axis.kind != AxisKind::kMesh;
    box.extents[i] = static_cast<std::uint32_t>(extent);
    box.start[i] = *rc::gen::inRange(0, cyclic ? size : size - extent + 1);
    count *= box.extents[i];
    if (extent > 1) box.order.push_back(static_cast<std::uint8_t>(i));
  }
  for (std::size_t i = box.order.size(); i > 1; --i)
    std::swap(box.order[i - 1], box.order[*rc::gen::inRange<std::size_t>(0, i)]);
  for (std::size_t member = 0; member < count; ++member) {
    Coordinates at = box.start;
    std::size_t rest = member;
    for (const std::uint8_t axis : box.order) {
      at[axis] = static_cast<std::int32_t>(
          wrap(std::int64_t{at[axis]} + static_cast<std::int64_t>(rest % box.extents[axis]),
               partition.axes[axis].size));
      rest /= box.extents[axis];
    }
    box.members.push_back(at);
  }
  RC_LOG() << "box " << extentsText(partition, box.extents) << " from "
           << coordinatesText(partition, box.start) << "\n";
  return box;
}

void shuffle(std::vector<std::int32_t>& sites) {
  for (std::size_t i = sites.size(); i > 1; --i)
    std::swap(sites[i - 1], sites[*rc::gen::inRange<std::size_t>(0, i)]);
}

/// Where the recognised box says that a member lies.
Coordinates memberAt(const Topology& partition, const SubTorus& box, std::size_t member) {
  Coordinates position{};
  if (box.ordered) {
    for (std::uint32_t i = 0; i < box.order_count; ++i) {
      const std::uint32_t extent = box.extents[box.order[i]];
      position[box.order[i]] = static_cast<std::int32_t>(member % extent);
      member /= extent;
    }
  } else {
    position = box.positionOf(member);
  }
  Coordinates at{};
  for (std::uint32_t i = 0; i < partition.axis_count; ++i) {
    at[i] = static_cast<std::int32_t>(
        wrap(std::int64_t{box.start[i]} + position[i], partition.axes[i].size));
  }
  return at;
}

/// The box of the members, whose ranks lie where they do.
SubTorus soundBoxOf(const Topology& partition, const std::vector<std::int32_t>& sites) {
  const StatusOr<SubTorus> box = recogniseSubTorus(partition, sites);
  RC_ASSERT(box.ok());
  RC_ASSERT(box->table.size() == (box->ordered ? 0 : sites.size()));
  const SubTorusAxes axes = canonicalAxes(partition, box->extents);
  Topology shape = subTorusTopology(partition, box->extents, axes);
  const SubTorusRanks ranks = ranksInSubTorus(*box, shape, axes);
  RC_ASSERT(ranks.table.empty() == box->ordered);
  shape.order = ranks.order;
  for (std::size_t member = 0; member < sites.size(); ++member) {
    const auto rank = ranks.table.empty() ? static_cast<std::int32_t>(member) : ranks.table[member];
    const Coordinates position = shape.coordinatesOf(rank);
    Coordinates at = box->start;
    for (std::uint32_t i = 0; i < shape.axis_count; ++i) {
      at[axes[i]] = static_cast<std::int32_t>(
          wrap(std::int64_t{at[axes[i]]} + position[i], partition.axes[axes[i]].size));
    }
    RC_ASSERT(partition.siteOf(at) == sites[member]);
  }
  return *box;
}

TEST(SubTorusProperties, ABoxByAnOrderOfAxesNeedsNoTable) {
  EXPECT_TRUE(rc::check([] {
    const Topology partition = drawPartition();
    const DrawnBox drawn = drawBox(partition);
    const SubTorus box = soundBoxOf(partition, sitesOf(partition, drawn.members));
    RC_ASSERT(box.extents == drawn.extents);
    RC_ASSERT(box.ordered);
    RC_ASSERT(std::ranges::equal(std::span(box.order).first(box.order_count), drawn.order));
    for (std::size_t i = 0; i < drawn.members.size(); ++i)
      RC_ASSERT(memberAt(partition, box, i) == drawn.members[i]);
  }));
}

TEST(SubTorusProperties, AShuffledBoxIsTheSameBox) {
  EXPECT_TRUE(rc::check([] {
    const Topology partition = drawPartition();
    const DrawnBox drawn = drawBox(partition);
    std::vector<std::int32_t> sites = sitesOf(partition, drawn.members);
    shuffle(sites);
    const SubTorus box = soundBoxOf(partition, sites);
    RC_ASSERT(box.extents == drawn.extents);
    for (std::size_t i = 0; i < sites.size(); ++i)
      RC_ASSERT(partition.siteOf(memberAt(partition, box, i)) == sites[i]);
  }));
}

TEST(SubTorusProperties, DamagedPartitionsAreTheirLiveNodes) {
  EXPECT_TRUE(rc::check([] {
    Topology partition = drawPartition();
    for (int dead = *rc::gen::inRange(1, 4); dead > 0; --dead) {
      Coordinates node =
          partition.coordinatesOfSite(*rc::gen::inRange(0, static_cast<int>(partition.sites())));
      if (partition.hasCores()) node[partition.axis_count - 1] = 0;
      Topology damaged = partition;
      const bool sound = damaged.addDeadNode(node).ok() && damaged.validate().ok();
      if (sound && damaged.ranks() > 1) partition = damaged;
    }
    std::vector<std::int32_t> sites;
    for (std::int32_t rank = 0; rank < static_cast<std::int32_t>(partition.ranks()); ++rank)
      sites.push_back(partition.siteOf(partition.coordinatesOf(rank)));
    RC_ASSERT(soundBoxOf(partition, sites).ordered);
    shuffle(sites);
    soundBoxOf(partition, sites);
  }));
}

/// Against the definition, by looking at every box: a random set of nodes is recognised exactly if
/// some box has just its nodes.
TEST(SubTorusProperties, OtherSetsAreRefused) {
  EXPECT_TRUE(rc::check([] {
    const Topology partition = drawPartition();
    const auto nodes = static_cast<std::int32_t>(partition.sites());
    std::set<std::int32_t> set;
    const int wanted = *rc::gen::inRange(1, 6);
    for (int i = 0; i < wanted; ++i)
      set.insert(*rc::gen::inRange(0, nodes));
    const std::vector<std::int32_t> sites(set.begin(), set.end());
    bool is_box = false;
    for (std::int32_t corner = 0; corner < nodes; ++corner) {
      const Coordinates start = partition.coordinatesOfSite(corner);
      for (std::int32_t other = 0; other < nodes; ++other) {
        const Coordinates steps = partition.coordinatesOfSite(other);
        std::size_t volume = 1;
        bool inside = true;
        for (std::uint32_t i = 0; i < partition.axis_count; ++i) {
          volume *= static_cast<std::size_t>(steps[i]) + 1;
          inside &= partition.axes[i].kind != AxisKind::kMesh ||
                    start[i] + steps[i] < static_cast<std::int32_t>(partition.axes[i].size);
        }
        if (!inside || volume != set.size()) continue;
        is_box |= std::ranges::all_of(sites, [&](std::int32_t site) {
          const Coordinates at = partition.coordinatesOfSite(site);
          for (std::uint32_t i = 0; i < partition.axis_count; ++i) {
            const auto step = wrap(std::int64_t{at[i]} - start[i], partition.axes[i].size);
            if (step > static_cast<std::uint32_t>(steps[i])) return false;
          }
          return true;
        });
      }
    }
    RC_ASSERT(recogniseSubTorus(partition, sites).ok() == is_box);
  }));
}

TEST(SubTorusRanks, AxesOfTheShapeAreTurned) {
  // 4x8 is compiled as 8x4: its X is the partition's Y.
  const Topology partition = *parseTopology("4x8");
  const SubTorusAxes axes = canonicalAxes(partition, wholeExtents(partition));
  const Topology shape = subTorusTopology(partition, wholeExtents(partition), axes);
  ASSERT_EQ(shape.shape(), "8x4");
  const SubTorusRanks ranks = ranksInSubTorus(wholePartition(partition), shape, axes);
  EXPECT_TRUE(ranks.table.empty());
  EXPECT_EQ(ranks.order[0], 1);
  EXPECT_EQ(ranks.order[1], 0);
}

}  // namespace
}  // namespace torc
