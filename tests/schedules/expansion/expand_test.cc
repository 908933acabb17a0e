// The flat program of one rank, on small schedules with expansions written by hand. Properties over
// random schedules are in tests/properties. The nested floor division: shares cover the whole
// without gap or overlap, and are even. Loops over peers in expansion: the peers of a rank in
// order, and its flat program.
#include "schedules/expansion/expand.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "schedules/expansion/shares.h"
#include "schedules/validation/validate.h"
#include "tests/schedules/sample_schedule.h"

namespace torc {
namespace {

using samples::ScheduleWriter;

Counts uniform(std::uint64_t count) {
  return {.count = count, .per_rank = {}, .displacements = {}};
}

FlatProgram expanded(const Schedule& schedule, std::int32_t rank, const Counts& counts,
                     bool in_place = false) {
  StatusOr<FlatProgram> program = expand(schedule.view(), rank, counts, in_place);
  EXPECT_TRUE(program.ok()) << program.status().message();
  return program.ok() ? std::move(*program) : FlatProgram{};
}

std::string faultOf(const Schedule& schedule, std::int32_t rank, const Counts& counts) {
  return expand(schedule.view(), rank, counts).status().message();
}

/// The runs of a region: "out 3+2 7+1".
std::string runs(const FlatProgram& program, const FlatRegion& region) {
  std::string text(name(region.buffer));
  for (const Extent& extent : program.extentsOf(region)) {
    text += " " + std::to_string(extent.offset) + "+" + std::to_string(extent.length);
  }
  return text;
}

TEST(Expand, RingOfFour) {
  // 10 elements in four blocks: 0..1, 2..4, 5..6, 7..9.
  const Schedule schedule = samples::ringAllreduce(4);
  const FlatProgram program = expanded(schedule, 0, uniform(10));
  ASSERT_EQ(program.operations.size(), 12u);
  EXPECT_EQ(program.in_elements, 10u);
  EXPECT_EQ(program.out_elements, 10u);
  const FlatOperation& send = program.operations[0];
  EXPECT_EQ(send.peer, 1);
  EXPECT_EQ(runs(program, send.a), "in 7+3") << "block x-1 of node 0 is block 3";
  const FlatOperation& reduce = program.operations[1];
  EXPECT_EQ(reduce.peer, 3);
  EXPECT_EQ(runs(program, reduce.dst), "out 5+2");
  EXPECT_EQ(runs(program, reduce.a), "in 5+2");
  EXPECT_EQ(runs(program, reduce.b), "scratch 0+2");
  EXPECT_EQ(program.scratch_elements, 2u + 3u + 2u) << "blocks 2, 1 and 0, a slot each";
}

TEST(Expand, SignalsStayWhateverTheCount) {
  const Schedule schedule = samples::signalledAllgather(4);
  const FlatProgram with = expanded(schedule, 1, uniform(5));
  EXPECT_EQ(with.operations.size(), 13u);
  const FlatProgram without = expanded(schedule, 1, uniform(0));
  ASSERT_EQ(without.operations.size(), 6u) << "three steps, two ends each";
  for (std::size_t i = 0; i < without.operations.size(); ++i) {
    const FlatOperation& operation = without.operations[i];
    EXPECT_EQ(operation.kind, i % 2 == 0 ? OperationKind::kNotify : OperationKind::kAwait);
    EXPECT_EQ(operation.peer, i % 2 == 0 ? 0 : 2);
    EXPECT_EQ(operation.tag, i / 2);
  }
}

/// Nodes that a guard excludes do not have the operation.
TEST(Expand, Guards) {
  const Schedule schedule = samples::meshAllgather(4);
  const auto peers = [&](std::int32_t rank) {
    std::multiset<std::int32_t> peers;
    for (const FlatOperation& operation : expanded(schedule, rank, uniform(5)).operations)
      peers.insert(operation.peer);
    return peers;
  };
  // The ends talk to their only neighbour: three blocks come in and the own one goes out.
  EXPECT_EQ(peers(0), (std::multiset<std::int32_t>{-1, 1, 1, 1, 1}));
  EXPECT_EQ(peers(3), (std::multiset<std::int32_t>{-1, 2, 2, 2, 2}));
  EXPECT_EQ(peers(1), (std::multiset<std::int32_t>{-1, 0, 0, 0, 0, 2, 2, 2, 2}));
}

/// copy -> (guarded away on node 0) copy -> copy: the last one waits for the first.
TEST(Expand, DependencesPassThroughWhatIsGone) {
  ScheduleWriter writer(Collective::kAllreduce, "2");
  const std::uint32_t stream = writer.stream(writer.color("X"));
  const Operation copy = samples::copy(writer.out(0, Box{}), writer.in(0, Box{}));
  const std::uint32_t first = writer.add(stream, copy);
  const std::uint32_t guard = writer.box(samples::boxOf(Interval::absolute(1)));
  const std::uint32_t second = writer.add(stream, samples::guarded(copy, guard), {first});
  writer.add(stream, copy, {second});
  const FlatProgram without = expanded(writer.schedule(), 0, uniform(3));
  ASSERT_EQ(without.operations.size(), 2u);
  ASSERT_EQ(without.dependencesOf(without.operations[1]).size(), 1u);
  EXPECT_EQ(without.dependencesOf(without.operations[1])[0], 0u);
  EXPECT_EQ(without.operations[1].source, 2u);
  const FlatProgram with = expanded(writer.schedule(), 1, uniform(3));
  ASSERT_EQ(with.operations.size(), 3u);
  EXPECT_EQ(with.dependencesOf(with.operations[2])[0], 1u);
}

/// Dependences through an operation that is gone do not multiply: what depends on many stays, as a
/// join that moves nothing.
TEST(Expand, ManyDependencesThroughWhatIsGoneJoin) {
  ScheduleWriter writer(Collective::kAllreduce, "2");
  const std::uint32_t stream = writer.stream(writer.color("X"));
  const auto copyOn = [&](std::int32_t node) {
    return samples::guarded(samples::copy(writer.out(0, Box{}), writer.in(0, Box{})),
                            writer.box(samples::boxOf(Interval::absolute(node))));
  };
  std::vector<std::uint32_t> before, dropped;
  for (int i = 0; i < 1000; ++i)
    before.push_back(writer.add(stream, copyOn(0)));
  const std::uint32_t gone = writer.add(stream, copyOn(1), before);
  for (int i = 0; i < 1000; ++i)
    dropped.push_back(writer.add(stream, copyOn(1), {gone}));
  for (const std::uint32_t one : dropped)
    writer.add(stream, copyOn(0), {one});

  const FlatProgram program = expanded(writer.schedule(), 0, uniform(3));
  EXPECT_LE(program.dependences.size(), kMostPassed * writer.schedule().dependences.size());
  EXPECT_EQ(program.dependences.size(), 2000u);
  ASSERT_EQ(program.operations.size(), 2001u);
  const FlatOperation& join = program.operations[1000];
  EXPECT_TRUE(join.isJoin());
  EXPECT_EQ(join.source, gone);
  EXPECT_EQ(program.dependencesOf(join).size(), 1000u);
  const FlatOperation& last = program.operations.back();
  EXPECT_FALSE(last.isJoin());
  ASSERT_EQ(program.dependencesOf(last).size(), 1u);
  EXPECT_EQ(program.dependencesOf(last)[0], 1000u);
  EXPECT_EQ(expanded(writer.schedule(), 1, uniform(3)).operations.size(), 1001u);
}

TEST(Expand, OwnBlocksStartAtZero) {
  const Schedule gather = samples::meshAllgather(4);
  const FlatProgram apart = expanded(gather, 2, uniform(5));
  EXPECT_EQ(apart.in_elements, 5u);
  EXPECT_EQ(apart.out_elements, 20u);
  EXPECT_EQ(runs(apart, apart.operations[0].a), "in 0+5");
  EXPECT_EQ(runs(apart, apart.operations[0].dst), "out 10+5");

  const FlatProgram in_place = expanded(gather, 2, uniform(5), true);
  EXPECT_EQ(in_place.in_elements, 20u);
  EXPECT_EQ(in_place.operations.size() + 1, apart.operations.size()) << "the copy is gone";

  const Schedule scatter = samples::ringReduceScatter(4);
  const FlatProgram last = expanded(scatter, 2, uniform(5));
  EXPECT_EQ(last.in_elements, 20u);
  EXPECT_EQ(last.out_elements, 5u);
  EXPECT_EQ(runs(last, last.operations.back().dst), "out 0+5");
  EXPECT_EQ(runs(last, last.operations.back().a), "in 10+5");
}

TEST(Expand, Faults) {
  const Schedule schedule = samples::meshAllgather(4);
  EXPECT_EQ(faultOf(schedule, 4, uniform(1)), "rank 4 is not in the torus 4m (ranks 0 to 3)");
  EXPECT_EQ(faultOf(schedule, -1, uniform(1)), "rank -1 is not in the torus 4m (ranks 0 to 3)");
  const std::vector<std::uint64_t> three = {1, 2, 3};
  EXPECT_EQ(faultOf(schedule, 0, {.count = 0, .per_rank = three, .displacements = {}}),
            "counts for 3 ranks, schedule has 4");
  EXPECT_EQ(
      faultOf(samples::ringAllreduce(3), 0, {.count = 0, .per_rank = three, .displacements = {}}),
      "allreduce takes one count, not one per rank");
  EXPECT_EQ(faultOf(schedule, 0, uniform(std::uint64_t{1} << 61)),
            "the elements of all blocks do not fit 63 bits");
  EXPECT_EQ(faultOf(samples::ringAllreduce(4), 0, uniform(std::uint64_t{1} << 63)),
            "the elements of the vector do not fit 63 bits");
  const std::vector<std::uint64_t> huge = {1, 2, std::uint64_t{1} << 62, std::uint64_t{1} << 62};
  EXPECT_EQ(faultOf(schedule, 0, {.count = 0, .per_rank = huge, .displacements = {}}),
            "the elements of all blocks do not fit 63 bits");
}

/// The largest vector that has a size: offsets do not overflow.
TEST(Expand, LargestCount) {
  const Schedule schedule = samples::multicolorAllreduce("2x3x2");
  const std::uint64_t count = ~std::uint64_t{0} >> 1;
  const FlatProgram program = expanded(schedule, 11, uniform(count));
  for (const FlatOperation& operation : program.operations) {
    for (const FlatRegion& region : {operation.dst, operation.a, operation.b}) {
      for (const Extent& extent : program.extentsOf(region)) {
        EXPECT_LE(extent.offset, count);
        EXPECT_LE(extent.length, count - extent.offset);
      }
    }
  }
}

constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();

TEST(Shares, ShareDoesNotOverflow) {
  EXPECT_EQ(share(10, 1, 3), 3u);
  EXPECT_EQ(share(10, 3, 3), 10u);
  EXPECT_EQ(share(0, 1, 3), 0u);
  EXPECT_EQ(share(kLargest, kLargest, kLargest), kLargest);
  EXPECT_EQ(share(kLargest, kLargest - 1, kLargest), kLargest - 1);
}

TEST(Shares, FollowOneAnotherAndAreEven) {
  for (const std::uint64_t length : {0ULL, 1ULL, 2ULL, 7ULL, 12ULL, 1000003ULL}) {
    for (const std::uint64_t count : {1ULL, 2ULL, 3ULL, 7ULL, 13ULL}) {
      const Extent whole{5, length};
      std::uint64_t next = whole.offset;
      for (std::uint64_t i = 0; i < count; ++i) {
        const Extent part = shareOf(whole, i, count);
        EXPECT_EQ(part.offset, next);
        EXPECT_GE(part.length, length / count);
        EXPECT_LE(part.length, length / count + (length % count != 0));
        next = part.offset + part.length;
      }
      EXPECT_EQ(next, whole.offset + length);
    }
  }
}

Schedule weighted(const std::vector<Color>& colors) {
  Schedule schedule;
  schedule.topology = *parseTopology("4");
  schedule.colors = colors;
  return schedule;
}

Color color(std::uint64_t weight, std::uint32_t directions, std::uint32_t chunks) {
  Color color;
  color.weight = weight;
  color.directions = directions;
  color.chunks = chunks;
  color.axis_count = 1;
  return color;
}

TEST(PartTable, NumbersPartsLikeTheSchedule) {
  const Schedule schedule = weighted({color(1, 2, 3), color(4, 1, 2)});
  const PartTable table(schedule.view());
  ASSERT_EQ(table.size(), 8u);
  ASSERT_EQ(schedule.view().partCount(), 8u);
  for (std::uint32_t part = 0; part < table.size(); ++part) {
    EXPECT_EQ(table.index(part), schedule.view().partIndex(part));
  }
  EXPECT_EQ(table.index(4), (PartIndex{.color = 0, .direction = 1, .chunk = 1}));
  EXPECT_EQ(table.index(7), (PartIndex{.color = 1, .direction = 0, .chunk = 1}));
}

TEST(PartTable, ColorsBySharesOfTheWeights) {
  const Schedule schedule = weighted({color(1, 1, 1), color(3, 1, 1), color(5, 1, 1)});
  const PartTable table(schedule.view());
  EXPECT_EQ(table.extent(0, {100, 90}), (Extent{100, 10}));
  EXPECT_EQ(table.extent(1, {100, 90}), (Extent{110, 30}));
  EXPECT_EQ(table.extent(2, {100, 90}), (Extent{140, 50}));
}

TEST(PartTable, DirectionsThenChunks) {
  const Schedule schedule = weighted({color(1, 2, 2)});
  const PartTable table(schedule.view());
  EXPECT_EQ(table.extent(0, {0, 40}), (Extent{0, 10}));
  EXPECT_EQ(table.extent(1, {0, 40}), (Extent{10, 10}));
  EXPECT_EQ(table.extent(2, {0, 40}), (Extent{20, 10}));
  EXPECT_EQ(table.extent(3, {0, 40}), (Extent{30, 10}));
}

TEST(PartTable, PartsCoverTheWholeInOrder) {
  const Schedule schedule = weighted({color(7, 2, 3), color(kLargest - 20, 1, 5), color(13, 2, 1)});
  const PartTable table(schedule.view());
  for (const std::uint64_t length :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{97}, std::uint64_t{1} << 40, kLargest}) {
    std::uint64_t next = 0;
    for (std::uint32_t part = 0; part < table.size(); ++part) {
      const Extent extent = table.extent(part, {0, length});
      EXPECT_EQ(extent.offset, next);
      next = extent.offset + extent.length;
    }
    EXPECT_EQ(next, length);
  }
}

Counts countOf(std::uint64_t count) {
  return {.count = count, .per_rank = {}, .displacements = {}};
}

/// A direct all-to-all on `shape`, and a copy of the own block that waits for all of the result.
Schedule direct(const char* shape, PeerOrder order) {
  Schedule schedule = samples::directAlltoall(shape);
  schedule.peer_loops[0].order = order;
  constexpr std::uint32_t kOwn = 0;  // the pair of boxes of the own block
  schedule.frames = {{0, kOwn, 0, 0}};
  schedule.slot_count = 1;
  schedule.operations.push_back(
      samples::copy(boxRegion(Buffer::kScratch, 0, kOwn, 0), boxRegion(Buffer::kOut, 0, kOwn)));
  schedule.operations.back().dependence_count = 2;
  schedule.dependences = {0, 2};  // the copy and the receives
  return schedule;
}

TEST(PeerLoop, ShiftsAreAllButTheOrigin) {
  PeerLoop peers;
  peers.first = {-1, 0};
  peers.count = {3, 2};
  EXPECT_EQ(shiftsOf(peers, 0, 0), (std::vector<Shift>{{-1, 0}, {1, 0}, {-1, 1}, {0, 1}, {1, 1}}));
  peers.order = PeerOrder::kShuffled;
  std::set<std::vector<Shift>> orders;
  for (std::int32_t rank = 0; rank < 20; ++rank) {
    std::vector<Shift> shifts = shiftsOf(peers, rank, 7);
    EXPECT_EQ(shifts, shiftsOf(peers, rank, 7));
    orders.insert(shifts);
    std::ranges::sort(shifts);
    EXPECT_EQ(shifts.size(), peers.size());
    EXPECT_EQ(std::ranges::adjacent_find(shifts), shifts.end());
    EXPECT_EQ(std::ranges::count(shifts, Shift{}), 0);
  }
  EXPECT_GT(orders.size(), 10u);
}

TEST(PeerLoop, OfManyMessagesIsWaitedForByAJoin) {
  const auto few = expand(direct("3x2", PeerOrder::kFixed).view(), 4, countOf(10));
  EXPECT_EQ(few->operations.back().dependence_count, 6u) << "the copy and each receive";
  const Schedule schedule = direct("8x8", PeerOrder::kFixed);
  const auto program = expand(schedule.view(), 0, countOf(1));
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->operations.size(), 63u + 1 + 63 + 1 + 1);
  const FlatOperation& last = program->operations.back();
  ASSERT_EQ(last.dependence_count, 2u);
  const FlatOperation& join = program->operations[program->dependencesOf(last)[1]];
  EXPECT_TRUE(join.isJoin());
  EXPECT_EQ(join.dependence_count, 63u);
}

TEST(PeerLoop, OfManyMessagesWaitsByAJoin) {
  Schedule schedule = direct("8x8", PeerOrder::kFixed);
  schedule.operations[2].first_dependence = 2;  // the receives wait for the copy and the sends
  schedule.operations[2].dependence_count = 2;
  schedule.dependences.insert(schedule.dependences.end(), {0, 1});
  const auto program = expand(schedule.view(), 0, countOf(1));
  ASSERT_TRUE(program.ok());
  for (const FlatOperation& operation : program->operations) {
    if (!receives(operation.kind)) continue;
    ASSERT_EQ(operation.dependence_count, 1u);
    const FlatOperation& join = program->operations[program->dependencesOf(operation)[0]];
    EXPECT_TRUE(join.isJoin());
    EXPECT_EQ(join.dependence_count, 2u);
  }
}

// A send waits for the one that is as many before it as the window says; receives wait for nothing.
TEST(PeerLoop, SendsAsManyAtATimeAsItsWindowSays) {
  Schedule schedule = direct("4x3", PeerOrder::kShuffled);
  schedule.peer_loops[0].window = 3;
  for (const std::uint64_t count : {1u, 0u}) {
    const auto program = expand(schedule.view(), 5, countOf(count));
    ASSERT_TRUE(program.ok());
    std::vector<std::uint32_t> sent;
    for (std::uint32_t i = 0; i < program->operations.size(); ++i) {
      const FlatOperation& operation = program->operations[i];
      if (receives(operation.kind)) {
        EXPECT_EQ(operation.dependence_count, 0u);
      }
      if (!sends(operation.kind)) continue;
      const auto after = program->dependencesOf(operation);
      if (sent.size() < 3) {
        EXPECT_TRUE(after.empty());
      } else {
        ASSERT_EQ(after.size(), 1u);
        EXPECT_EQ(after[0], sent[sent.size() - 3]);
      }
      sent.push_back(i);
    }
    EXPECT_EQ(sent.size(), count > 0 ? 11u : 0u);
  }
}

// One rank's program is as large as its own data, whatever the shape.
TEST(PeerLoop, OnLargeMachines) {
  for (const char* shape : {"64x32x32", "65536m", "8x8x8x8x16"}) {
    const Schedule schedule = direct(shape, PeerOrder::kShuffled);
    ASSERT_TRUE(validate(schedule.view()).ok());
    const auto program = expand(schedule.view(), 12345, countOf(2));
    ASSERT_TRUE(program.ok());
    EXPECT_EQ(program->operations.size(), 2u * 65535 + 3) << shape;
    EXPECT_LE(program->extents.size(), program->operations.size() + 2) << shape;
    EXPECT_LE(program->loops.size(), 0u) << shape;
  }
}

/// What rank 4 of 3x2 sends and receives, the own block alike.
const std::vector<std::uint64_t> kSent = {3, 0, 5, 1, 7, 2}, kReceived = {0, 4, 0, 6, 7, 1};

Counts lists() {
  Counts counts{.count = 0, .per_rank = kReceived, .displacements = {}};
  counts.in_per_rank = kSent;
  return counts;
}

// A rank's program has nothing but its own row and column, whatever the shape.
TEST(PeerLoop, OfCountsThatDifferOnLargeMachines) {
  const Schedule schedule = samples::directAlltoall("64x32x32");
  const std::vector<std::uint64_t> counts(65536, 3);
  Counts both{.count = 0, .per_rank = counts, .displacements = {}};
  both.in_per_rank = counts;
  const auto program = expand(schedule.view(), 12345, both);
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->operations.size(), 2u * 65535 + 1);
  EXPECT_EQ(program->scratch_elements, 0u);
}

std::string faultOf(const Schedule& schedule, const Counts& counts) {
  return expand(schedule.view(), 4, counts).status().message();
}

TEST(PeerLoop, CountsThatDifferAreChecked) {
  const Schedule schedule = samples::directAlltoall("3x2");
  Counts counts = lists();
  EXPECT_EQ(faultOf(direct("3x2", PeerOrder::kFixed), counts),
            "schedule " + direct("3x2", PeerOrder::kFixed).name +
                " forwards blocks of others, whose length only their two ranks know: counts that "
                "differ take a direct one");
  counts.in_per_rank = {};
  EXPECT_EQ(faultOf(schedule, counts),
            "one count for the blocks of `in` or `out`, one per rank for the other");
  const std::vector<std::uint64_t> other = {3, 0, 5, 1, 6, 2}, three = {1, 2, 3},
                                   huge(6, std::uint64_t{1} << 61);
  counts.in_per_rank = other;
  EXPECT_EQ(faultOf(schedule, counts), "the own block has 6 elements in `in`, 7 in `out`");
  counts.in_per_rank = three;
  EXPECT_EQ(faultOf(schedule, counts), "counts for 3 ranks, schedule has 6");
  counts.in_per_rank = huge;
  EXPECT_EQ(faultOf(schedule, counts), "the elements of all blocks do not fit 63 bits");
}

}  // namespace
}  // namespace torc
