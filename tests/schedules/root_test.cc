// Schedules turned to a root: coordinates, peers, root-relative guards, and what validation asks.
#include "schedules/root.h"

#include <gtest/gtest.h>

#include "schedules/validation/validate.h"

namespace torc {
namespace {

/// A copy of `in` to `out` behind `guard`, and a message up X behind another.
Schedule broadcastOn(const char* shape, const Box& root, const Box& senders) {
  Schedule schedule;
  schedule.collective = Collective::kBroadcast;
  schedule.topology = *parseTopology(shape);
  schedule.name = "b";
  Color color;
  color.axis_count = schedule.topology.axis_count;
  for (std::uint32_t i = 0; i < color.axis_count; ++i)
    color.order[i] = static_cast<std::uint8_t>(i);
  schedule.colors = {color};
  schedule.streams = {{0, 0}};
  schedule.boxes = {Box{}, root, senders};
  schedule.shifts = {Shift{1}};
  Operation copy;
  copy.kind = OperationKind::kCopy;
  copy.guard = 1;
  copy.dst = boxRegion(Buffer::kOut, 0, 0);
  copy.a = boxRegion(Buffer::kIn, 0, 0);
  Operation send;
  send.kind = OperationKind::kSend;
  send.guard = 2;
  send.peer = 0;
  send.a = boxRegion(Buffer::kOut, 0, 0);
  schedule.operations = {copy, send};
  return schedule;
}

Box boxOf(Interval x, Interval y) {
  Box box;
  box[0] = x;
  box[1] = y;
  return box;
}

const Box kOrigin = boxOf(Interval::absolute(0), Interval::absolute(0));

TEST(Root, StandsAtTheOriginOfAxesThatWrap) {
  const Schedule schedule = broadcastOn("4x3", kOrigin, kOrigin);
  const ScheduleView view = schedule.view();
  for (std::int32_t root = 0; root < 12; ++root) {
    const RootedSchedule rooted(view, root);
    EXPECT_EQ(rooted.coordinatesOf(root), Coordinates{});
    for (std::int32_t rank = 0; rank < 12; ++rank) {
      const Coordinates at = rooted.coordinatesOf(rank);
      EXPECT_EQ(rooted.rankOf(at), rank);
      EXPECT_EQ(rooted.neighbour(at, Shift{1, -1}),
                view.topology.neighbour(view.topology.coordinatesOf(rank), Shift{1, -1}));
    }
  }
}

TEST(Root, StaysWhereItIsOnLinesAndWhereSomethingIsDead) {
  const Schedule line = broadcastOn("4mx3", kOrigin, kOrigin);
  EXPECT_FALSE(countsFromRoot(line.view(), 0));
  EXPECT_TRUE(countsFromRoot(line.view(), 1));
  EXPECT_EQ(RootedSchedule(line.view(), 7).coordinatesOf(7), (Coordinates{3, 0}));
  Schedule damaged = broadcastOn("4x3", kOrigin, kOrigin);
  ASSERT_TRUE(damaged.topology.addDeadNode({1, 1}).ok());
  EXPECT_FALSE(countsFromRoot(damaged.view(), 0));
  Schedule rootless = broadcastOn("4x3", kOrigin, kOrigin);
  rootless.collective = Collective::kAllgather;
  EXPECT_FALSE(countsFromRoot(rootless.view(), 0));
  EXPECT_EQ(RootedSchedule(rootless.view(), 0).coordinatesOf(5), (Coordinates{1, 1}));
}

/// The coordinates on a line of 5 that `interval` admits with the root at `root`: one bit each.
unsigned admitted(const Interval& interval, std::int32_t root) {
  const Schedule schedule =
      broadcastOn("5mx3", boxOf(interval, Interval::all()), boxOf(interval, Interval::all()));
  const RootedSchedule rooted(schedule.view(), root);
  unsigned bits = 0;
  for (std::int32_t x = 0; x < 5; ++x) {
    bits |= static_cast<unsigned>(admits(rooted.view().boxes[1], schedule.topology, {x})) << x;
  }
  return bits;
}

TEST(Root, RootRelativeGuardsEndWithTheAxis) {
  for (std::int32_t root = 0; root < 5; ++root) {
    for (std::int32_t offset = -4; offset <= 4; ++offset) {
      unsigned one = 0, two = 0, up = 0, down = 0;
      for (std::int32_t x = 0; x < 5; ++x) {
        const unsigned bit = 1u << x;
        if (x == root + offset) one |= bit;
        if (x == root + offset || x == root + offset + 1) two |= bit;
        if (x >= root + offset && x <= 3) up |= bit;
        if (x >= 1 && x <= root + offset) down |= bit;
      }
      if (offset == 0) {
        EXPECT_EQ(admitted(Interval::rootWithin(1, 3), root), root >= 1 && root <= 3 ? one : 0);
      }
      EXPECT_EQ(admitted(Interval::root(offset), root), one) << root << ' ' << offset;
      EXPECT_EQ(admitted(Interval::root(offset, 2), root), two) << root << ' ' << offset;
      EXPECT_EQ(admitted(Interval::fromRoot(offset, 3), root), up) << root << ' ' << offset;
      EXPECT_EQ(admitted(Interval::toRoot(1, offset), root), down) << root << ' ' << offset;
    }
  }
}

std::string faultOf(const Schedule& schedule) {
  return validate(schedule.view()).message();
}

TEST(Root, ValidationKnowsWhoTheRootIs) {
  EXPECT_EQ(faultOf(broadcastOn("4x3", kOrigin, kOrigin)), "");
  const Box at_root = boxOf(Interval::root(), Interval::absolute(0));
  const Box senders = boxOf(Interval::fromRoot(0, 2), Interval::absolute(0));
  EXPECT_EQ(faultOf(broadcastOn("4mx3", at_root, senders)), "");
  // `in` is the root's alone.
  EXPECT_EQ(faultOf(broadcastOn("4mx3", kOrigin, senders)),
            "operation 0: a: in is the root's alone: the guard admits others");
  EXPECT_EQ(faultOf(broadcastOn("4x3", boxOf(Interval::absolute(0), Interval::all()), kOrigin)),
            "operation 0: a: in is the root's alone: the guard admits others");
  // A guard that keeps the sender on the mesh must do so for every root.
  EXPECT_EQ(faultOf(broadcastOn("4mx3", at_root, boxOf(Interval::root(), Interval::absolute(0)))),
            "operation 1: peer: X=4 is outside the mesh (size 4)");
  EXPECT_EQ(faultOf(broadcastOn("4x3", at_root, kOrigin)),
            "box 1: on X: is root-relative, but coordinates count from the root there, or there is "
            "none");
  EXPECT_EQ(
      faultOf(broadcastOn("4mx3", at_root, boxOf(Interval::fromRoot(0, 4), Interval::absolute(0)))),
      "box 2: on X: end 4 is outside (size 4)");
  EXPECT_EQ(faultOf(broadcastOn("4mx3", at_root, boxOf(Interval::root(4), Interval::absolute(0)))),
            "box 2: on X: offset 4 leaves the axis from any root (size 4)");
  // Where the root is at the end of the line, such a guard admits nobody.
  const Box inside = boxOf(Interval::rootWithin(0, 3), Interval::absolute(0));
  EXPECT_EQ(faultOf(broadcastOn("4mx3", inside, inside)), "");
  EXPECT_EQ(faultOf(broadcastOn("4mx3", at_root,
                                boxOf(Interval::rootWithin(1, 4), Interval::absolute(0)))),
            "box 2: on X: r in 1:4 leaves the axis (size 4)");
  Schedule in_region = broadcastOn("4mx3", at_root, senders);
  in_region.operations[1].a.box = 2;
  EXPECT_EQ(faultOf(in_region), "operation 1: a: box 2 is root-relative");
}

}  // namespace
}  // namespace torc
