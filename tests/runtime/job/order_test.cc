// A topology with another order of ranks: damage stays where it is.
#include <algorithm>
#include <array>
#include <set>

#include <gtest/gtest.h>

#include "runtime/job/geometry.h"

namespace torc::runtime {
namespace {

Topology damaged() {
  StatusOr<Topology> topology = parseTopology("4x3x2");
  EXPECT_TRUE(topology.ok());
  for (const char* node : {"3,0,0", "0,2,1", "1,0,1"}) {
    const StatusOr<Coordinates> at = parseDeadNode(*topology, node);
    EXPECT_TRUE(at.ok() && topology->addDeadNode(*at).ok()) << node;
  }
  for (const char* link : {"2,1,0:X", "0,0,0:Z", "1,1,1:Y"}) {
    const StatusOr<DeadLink> dead = parseDeadLink(*topology, link);
    EXPECT_TRUE(dead.ok() && topology->addDeadLink(*dead).ok()) << link;
  }
  return *topology;
}

TEST(Order, AllOrdersOfADamagedTorusNumberTheSameLiveNodes) {
  const Topology topology = damaged();
  std::array<std::uint8_t, kMaxAxes> order = {0, 1, 2};
  do {
    const StatusOr<Topology> turned = withOrder(topology, order);
    ASSERT_TRUE(turned.ok()) << turned.status().message();
    EXPECT_EQ(turned->ranks(), topology.ranks());
    EXPECT_EQ(turned->dead_link_count, topology.dead_link_count);
    std::set<std::int32_t> ranks;
    for (std::int32_t site = 0; site < static_cast<std::int32_t>(topology.sites()); ++site) {
      const Coordinates at = topology.coordinatesOfSite(site);
      EXPECT_EQ(turned->isDead(at), topology.isDead(at)) << site;
      for (std::uint32_t axis = 0; axis < 3; ++axis) {
        Coordinates there, here;
        EXPECT_EQ(turned->hasLink(at, axis, 1, there), topology.hasLink(at, axis, 1, here));
      }
      const std::int32_t rank = turned->rankOf(at);
      if (rank < 0) continue;
      EXPECT_TRUE(ranks.insert(rank).second) << "rank " << rank << " twice";
      EXPECT_EQ(turned->coordinatesOf(rank), at);
    }
    EXPECT_EQ(ranks.size(), topology.ranks());
    EXPECT_EQ(*ranks.rbegin(), static_cast<std::int32_t>(topology.ranks()) - 1);
  } while (std::next_permutation(order.begin(), order.begin() + 3));
}

TEST(Order, AnOrderThatNamesAnAxisTwiceIsRefused) {
  EXPECT_FALSE(withOrder(damaged(), {0, 0, 2}).ok());
}

}  // namespace
}  // namespace torc::runtime
