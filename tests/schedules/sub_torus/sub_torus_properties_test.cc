// Random boxes of random tori, in every order of axes and shuffled: what is recognised is the box,
// and every member is where it was put.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "schedules/box.h"
#include "schedules/sub_torus/sub_torus.h"

namespace torc {
namespace {

std::vector<std::int32_t> sitesOf(const Topology& partition,
                                  const std::vector<Coordinates>& members) {
  std::vector<std::int32_t> sites;
  for (const Coordinates& member : members)
    sites.push_back(partition.siteOf(member));
  return sites;
}

bool holds(const char* what, auto property) {
  return rc::check(what, property);
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

void shuffle(std::vector<Coordinates>& members) {
  for (std::size_t i = members.size(); i > 1; --i)
    std::swap(members[i - 1], members[*rc::gen::inRange<std::size_t>(0, i)]);
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

TEST(SubTorusProperties, ABoxByAnOrderOfAxesNeedsNoTable) {
  EXPECT_TRUE(holds("ordered boxes", [] {
    const Topology partition = drawPartition();
    const DrawnBox drawn = drawBox(partition);
    const StatusOr<SubTorus> box = recogniseSubTorus(partition, sitesOf(partition, drawn.members));
    RC_ASSERT(box.ok());
    RC_ASSERT(box->extents == drawn.extents);
    RC_ASSERT(box->ordered);
    RC_ASSERT(std::vector<std::uint8_t>(box->order.begin(),
                                        box->order.begin() + box->order_count) == drawn.order);
    RC_ASSERT(box->table.empty());
    for (std::size_t i = 0; i < drawn.members.size(); ++i)
      RC_ASSERT(memberAt(partition, *box, i) == drawn.members[i]);
  }));
}

TEST(SubTorusProperties, AShuffledBoxIsTheSameBox) {
  EXPECT_TRUE(holds("shuffled boxes", [] {
    const Topology partition = drawPartition();
    DrawnBox drawn = drawBox(partition);
    shuffle(drawn.members);
    const StatusOr<SubTorus> box = recogniseSubTorus(partition, sitesOf(partition, drawn.members));
    RC_ASSERT(box.ok());
    RC_ASSERT(box->extents == drawn.extents);
    RC_ASSERT(box->table.size() == (box->ordered ? 0 : drawn.members.size()));
    for (std::size_t i = 0; i < drawn.members.size(); ++i)
      RC_ASSERT(memberAt(partition, *box, i) == drawn.members[i]);
  }));
}

/// Against the definition, by looking at every box: a random set of nodes is recognised exactly if
/// some box has just its nodes.
TEST(SubTorusProperties, OtherSetsAreRefused) {
  EXPECT_TRUE(holds("random sets", [] {
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
    const StatusOr<SubTorus> box = recogniseSubTorus(partition, sites);
    RC_ASSERT(box.ok() == is_box);
  }));
}

}  // namespace
}  // namespace torc
