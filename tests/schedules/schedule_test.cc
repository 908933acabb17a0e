// Names, traits and equality of schedules. Schedules for a root: coordinates, peers, root-relative
// guards, and their validation. Boxes: each function of a cyclic range is compared with the set of
// its coordinates.
#include "schedules/schedule.h"

#include <functional>
#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "schedules/box.h"
#include "schedules/root.h"
#include "schedules/validation/validate.h"
#include "tests/schedules/sample_schedule.h"

namespace torc {
namespace {

TEST(Schedule, NamesAreDistinct) {
  std::set<std::string_view> collectives, kinds;
  for (int i = 0; i < kCollectiveCount; ++i)
    collectives.insert(rowOf(static_cast<Collective>(i)).name);
  for (int i = 0; i < kOperationKindCount; ++i)
    kinds.insert(name(static_cast<OperationKind>(i)));
  EXPECT_EQ(collectives,
            (std::set<std::string_view>{"allreduce", "reduce_scatter", "allgather", "broadcast",
                                        "alltoall", "reduce", "scatter", "gather", "scan", "exscan",
                                        "neighbor_allgather", "neighbor_alltoall"}));
  EXPECT_EQ(kinds, (std::set<std::string_view>{"send", "recv", "recv_reduce", "reduce", "copy",
                                               "notify", "await"}));
  EXPECT_EQ(name(Buffer::kScratch), "scratch");
}

TEST(Schedule, OwnBlockBuffers) {
  EXPECT_TRUE(rowOf(Collective::kAllreduce).inWhole());
  EXPECT_TRUE(rowOf(Collective::kAllreduce).outWhole());
  EXPECT_FALSE(rowOf(Collective::kReduceScatter).outWhole());
  EXPECT_FALSE(rowOf(Collective::kAllgather).inWhole());
  EXPECT_FALSE(rowOf(Collective::kAllgather).reduces());
  EXPECT_FALSE(rowOf(Collective::kAllgather).isRooted());
  EXPECT_TRUE(rowOf(Collective::kBroadcast).isRooted());
  EXPECT_EQ(rowOf(Collective::kBroadcast).inAt(true), Holds::kWhole);
  EXPECT_EQ(rowOf(Collective::kBroadcast).inAt(false), Holds::kNothing);
  EXPECT_TRUE(rowOf(Collective::kReduce).reduces());
  for (const Collective collective : {Collective::kReduce, Collective::kGather}) {
    const CollectiveRow& row = rowOf(collective);
    EXPECT_TRUE(row.isRooted());
    EXPECT_EQ(row.outAt(true), Holds::kWhole);
    EXPECT_EQ(row.outAt(false), Holds::kNothing);
    EXPECT_TRUE(row.mayBeInPlace(true));
    EXPECT_FALSE(row.mayBeInPlace(false));
  }
  const CollectiveRow& scatter = rowOf(Collective::kScatter);
  EXPECT_TRUE(scatter.isRooted());
  EXPECT_TRUE(scatter.describesOwnOut());
  EXPECT_FALSE(rowOf(Collective::kGather).describesOwnOut());
  EXPECT_TRUE(scatter.mayBeInPlace(true));
  EXPECT_FALSE(scatter.mayBeInPlace(false));
}

TEST(Schedule, CopiesAreEqual) {
  for (const Schedule& schedule : samples::all()) {
    const Schedule copy = schedule;
    EXPECT_TRUE(copy.view() == schedule.view());
  }
}

TEST(Schedule, EveryFieldCounts) {
  const std::function<void(Schedule&)> edits[] = {
      [](Schedule& s) { s.collective = Collective::kReduceScatter; },
      [](Schedule& s) { s.flags = kConflictFreePhases; },
      [](Schedule& s) { s.topology.axes[0].bandwidth = 2; },
      [](Schedule& s) { s.name = "other"; },
      [](Schedule& s) { s.producer += "!"; },
      [](Schedule& s) { s.colors[1].weight = 2; },
      [](Schedule& s) { s.streams[0].core = 1; },
      [](Schedule& s) { s.boxes.back()[0].length = 2; },
      [](Schedule& s) { s.shifts.pop_back(); },
      [](Schedule& s) { s.frames[0].slot = 1; },
      [](Schedule& s) { ++s.slot_count; },
      [](Schedule& s) { s.operations[5].b.frame = 1; },
      [](Schedule& s) { s.dependences.back() = 0; },
  };
  const Schedule schedule = samples::multicolorAllreduce("3x2", 2);
  for (std::size_t i = 0; i < std::size(edits); ++i) {
    Schedule edited = schedule;
    edits[i](edited);
    EXPECT_FALSE(edited.view() == schedule.view()) << "edit " << i;
  }
}

TEST(Schedule, SumsWhole) {
  EXPECT_TRUE(samples::ringReduceScatter(3).view().sumsWhole()) << "of blocks";
  EXPECT_TRUE(samples::meshBroadcast(3).view().sumsWhole());
  EXPECT_FALSE(samples::ringAllreduce(3).view().sumsWhole());
  EXPECT_FALSE(samples::bothWaysReduceScatter().view().sumsWhole()) << "in parts";
  Schedule segments = samples::ringReduceScatter(3);
  segments.segments = 2;
  EXPECT_FALSE(segments.view().sumsWhole());
}

TEST(Schedule, DependencesOfAnOperation) {
  const Schedule schedule = samples::ringAllreduce(4);
  const ScheduleView view = schedule.view();
  EXPECT_EQ(view.dependencesOf(view.operations[0]).size(), 0u);
  ASSERT_EQ(view.dependencesOf(view.operations[2]).size(), 1u);
  EXPECT_EQ(view.dependencesOf(view.operations[2])[0], 1u);
}

using samples::boxOf;
using samples::guarded;

/// A copy of `in` to `out` behind `guard`, and a message up X behind another.
Schedule broadcastOn(const char* shape, const Box& root, const Box& senders) {
  samples::ScheduleWriter writer(Collective::kBroadcast, shape);
  writer.stream(writer.color(writer.schedule().topology.orderString()));
  Schedule schedule = writer.take();
  schedule.boxes = {Box{}, root, senders};
  schedule.shifts = {Shift{1}};
  schedule.operations = {
      guarded(samples::copy(boxRegion(Buffer::kOut, 0, 0), boxRegion(Buffer::kIn, 0, 0)), 1),
      guarded(samples::send(boxRegion(Buffer::kOut, 0, 0), 0), 2)};
  return schedule;
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
  damaged.topology = samples::damaged("4x3", {"1,1"});
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

std::set<std::uint32_t> coordinatesOf(const Range& range, std::uint32_t size) {
  std::set<std::uint32_t> coordinates;
  for (std::uint32_t i = 0; i < range.length; ++i)
    coordinates.insert((range.start + i) % size);
  return coordinates;
}

std::vector<Range> allRanges(std::uint32_t size) {
  std::vector<Range> ranges = {{0, size}};
  for (std::uint32_t start = 0; start < size; ++start) {
    for (std::uint32_t length = 1; length < size; ++length)
      ranges.push_back({start, length});
  }
  return ranges;
}

TEST(Box, Wrap) {
  EXPECT_EQ(wrap(-1, 4), 3u);
  EXPECT_EQ(wrap(-4, 4), 0u);
  EXPECT_EQ(wrap(9, 4), 1u);
  EXPECT_EQ(wrap(std::numeric_limits<std::int64_t>::min(), 1), 0u);
  EXPECT_EQ(wrap(-1, 0xffffffffu), 0xfffffffeu);
}

TEST(Box, ResolveInterval) {
  EXPECT_EQ(resolve(Interval::all(), 3, 5), (Range{0, 5}));
  EXPECT_EQ(resolve(Interval::absolute(2, 2), 3, 5), (Range{2, 2}));
  EXPECT_EQ(resolve(Interval::absolute(4, 3), 3, 5), (Range{4, 3}));
  EXPECT_EQ(resolve(Interval::relative(0), 3, 5), (Range{3, 1}));
  EXPECT_EQ(resolve(Interval::relative(-4), 3, 5), (Range{4, 1}));
  EXPECT_EQ(resolve(Interval::relative(7, 2), 3, 5), (Range{0, 2}));
  EXPECT_EQ(resolve(Interval::relative(2, 5), 3, 5), (Range{0, 5})) << "full length starts at 0";
  constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min();
  EXPECT_EQ(resolve(Interval::relative(kLeast), 3, 5), (Range{wrap(3LL + kLeast, 5), 1}));
}

TEST(Box, ResolveTakesTheCoordinateOfEachAxis) {
  const Topology topology = *parseTopology("4x3x2");
  Box box;
  box[0] = Interval::relative(1);
  box[2] = Interval::relative(1);
  const Ranges ranges = resolve(box, topology, {3, 1, 0});
  EXPECT_EQ(ranges[0], (Range{0, 1}));
  EXPECT_EQ(ranges[1], (Range{0, 3}));
  EXPECT_EQ(ranges[2], (Range{1, 1}));
  EXPECT_EQ(ranges[3], (Range{})) << "no such axis";
  EXPECT_EQ(volume(ranges, topology), 3u);
}

TEST(Box, ContainsAgreesWithTheSet) {
  for (std::uint32_t size = 1; size <= 6; ++size) {
    for (const Range& range : allRanges(size)) {
      for (std::uint32_t c = 0; c < size; ++c) {
        EXPECT_EQ(contains(range, c, size), coordinatesOf(range, size).contains(c))
            << range.start << ":" << range.length << " of " << size << ", " << c;
      }
    }
  }
}

TEST(Box, Admits) {
  const Topology topology = *parseTopology("4x3m");
  Box guard;
  EXPECT_TRUE(admits(guard, topology, {3, 2}));
  guard[0] = Interval::absolute(3, 2);  // 3 and 0
  guard[1] = Interval::absolute(1, 2);
  EXPECT_TRUE(admits(guard, topology, {3, 1}));
  EXPECT_TRUE(admits(guard, topology, {0, 2}));
  EXPECT_FALSE(admits(guard, topology, {1, 1}));
  EXPECT_FALSE(admits(guard, topology, {3, 0}));
}

TEST(Box, VolumeOfManyNodes) {
  const Topology topology = *parseTopology("1024x1024x1024");
  EXPECT_EQ(volume(resolve(Box{}, topology, {}), topology), std::uint64_t{1} << 30);
}

}  // namespace
}  // namespace torc
