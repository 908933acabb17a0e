// Members of a box as ranks of its schedules: a member's rank lies, in the sub-torus's topology,
// where the member lies in the partition.
#include "schedules/sub_torus/sub_torus_ranks.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "schedules/box.h"

namespace torc {
namespace {

/// Checks the defining property for recognised members.
bool liesRight(const Topology& partition, const std::vector<std::int32_t>& sites) {
  const StatusOr<SubTorus> box = recogniseSubTorus(partition, sites);
  if (!box.ok()) return false;
  const SubTorusAxes axes = canonicalAxes(partition, box->extents);
  Topology shape = subTorusTopology(partition, box->extents, axes);
  const SubTorusRanks ranks = ranksInSubTorus(*box, shape, axes);
  if (ranks.table.empty() != box->ordered) return false;
  shape.order = ranks.order;
  for (std::size_t member = 0; member < sites.size(); ++member) {
    const auto rank = ranks.table.empty() ? static_cast<std::int32_t>(member) : ranks.table[member];
    const Coordinates position = shape.coordinatesOf(rank);
    Coordinates at = box->start;
    for (std::uint32_t i = 0; i < shape.axis_count; ++i) {
      at[axes[i]] = static_cast<std::int32_t>(
          wrap(std::int64_t{at[axes[i]]} + position[i], partition.axes[axes[i]].size));
    }
    if (partition.siteOf(at) != sites[member]) return false;
  }
  return true;
}

void shuffle(std::vector<std::int32_t>& sites) {
  for (std::size_t i = sites.size(); i > 1; --i)
    std::swap(sites[i - 1], sites[*rc::gen::inRange<std::size_t>(0, i)]);
}

Topology drawRankedPartition() {
  std::string shape;
  const int dimensions = *rc::gen::inRange(1, 4);
  for (int i = 0; i < dimensions; ++i) {
    shape += (i > 0 ? "x" : "") + std::to_string(*rc::gen::inRange(2, 6));
    if (*rc::gen::arbitrary<bool>()) shape += "m";
  }
  if (*rc::gen::arbitrary<bool>()) shape += "+" + std::to_string(*rc::gen::inRange(1, 4));
  Topology partition = *parseTopology(shape);
  for (std::size_t i = partition.axis_count; i > 1; --i)
    std::swap(partition.order[i - 1], partition.order[*rc::gen::inRange<std::size_t>(0, i)]);
  RC_LOG() << "torus " << shape << " order " << partition.orderString() << "\n";
  return partition;
}

TEST(SubTorusRanks, BoxesInOrderAndShuffled) {
  EXPECT_TRUE(rc::check([] {
    const Topology partition = drawRankedPartition();
    const auto start =
        partition.coordinatesOfSite(*rc::gen::inRange(0, static_cast<int>(partition.sites())));
    const auto far =
        partition.coordinatesOfSite(*rc::gen::inRange(0, static_cast<int>(partition.sites())));
    std::vector<std::int32_t> sites;
    for (std::int32_t site = 0; site < static_cast<std::int32_t>(partition.sites()); ++site) {
      const Coordinates at = partition.coordinatesOfSite(site);
      bool inside = true;
      for (std::uint32_t i = 0; i < partition.axis_count; ++i) {
        const Axis& axis = partition.axes[i];
        const bool cyclic = axis.kind != AxisKind::kMesh;
        const std::int32_t low = cyclic ? start[i] : std::min(start[i], far[i]);
        const std::int32_t high = cyclic ? far[i] : std::max(start[i], far[i]);
        inside &=
            wrap(std::int64_t{at[i]} - low, axis.size) <= wrap(std::int64_t{high} - low, axis.size);
      }
      if (inside) sites.push_back(site);
    }
    RC_ASSERT(liesRight(partition, sites));
    shuffle(sites);
    RC_ASSERT(liesRight(partition, sites));
  }));
}

TEST(SubTorusRanks, DamagedPartitions) {
  EXPECT_TRUE(rc::check([] {
    Topology partition = drawRankedPartition();
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
    RC_ASSERT(recogniseSubTorus(partition, sites)->ordered);
    RC_ASSERT(liesRight(partition, sites));
    shuffle(sites);
    RC_ASSERT(liesRight(partition, sites));
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
