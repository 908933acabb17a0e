// The flat program of one rank, on small schedules whose expansion can be said by hand. Properties
// over random schedules are in tests/properties.
#include "schedules/expansion/expand.h"

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

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

TEST(Expand, EmptyMessagesVanishOnBothSides) {
  // One element: it is in block 3 alone.
  const Schedule schedule = samples::ringAllreduce(4);
  std::multiset<std::tuple<std::int32_t, std::int32_t, std::uint32_t>> sent, received;
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    const FlatProgram program = expanded(schedule, rank, uniform(1));
    for (const FlatOperation& operation : program.operations) {
      if (sends(operation.kind)) {
        sent.insert({rank, operation.peer, operation.tag});
      } else {
        received.insert({operation.peer, rank, operation.tag});
      }
    }
  }
  EXPECT_EQ(sent.size(), 6u) << "three hops to reduce it, three to spread it";
  EXPECT_EQ(sent, received);
  EXPECT_TRUE(expanded(schedule, 2, uniform(0)).operations.empty());
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

TEST(Expand, TagsAreUniqueBetweenTwoRanks) {
  const Schedule schedule = samples::multicolorAllreduce("3x2", 2);
  for (std::int32_t rank = 0; rank < 6; ++rank) {
    const FlatProgram program = expanded(schedule, rank, uniform(1000));
    std::set<std::tuple<bool, std::int32_t, std::uint32_t>> tags;
    for (const FlatOperation& operation : program.operations) {
      EXPECT_LT(operation.tag, program.tag_count);
      EXPECT_TRUE(tags.insert({sends(operation.kind), operation.peer, operation.tag}).second);
    }
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
  Box guard;
  guard[0] = Interval::absolute(1);
  Operation copy;
  copy.kind = OperationKind::kCopy;
  copy.a = writer.in(0, Box{});
  copy.dst = writer.out(0, Box{});
  const std::uint32_t first = writer.add(stream, copy);
  copy.guard = writer.box(guard);
  const std::uint32_t second = writer.add(stream, copy, {first});
  copy.guard = kNone;
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
  const auto guard = [&](std::int32_t node) {
    Box box;
    box[0] = Interval::absolute(node);
    return writer.box(box);
  };
  Operation copy;
  copy.kind = OperationKind::kCopy;
  copy.a = writer.in(0, Box{});
  copy.dst = writer.out(0, Box{});
  copy.guard = guard(0);
  std::vector<std::uint32_t> before;
  for (int i = 0; i < 1000; ++i)
    before.push_back(writer.add(stream, copy));
  copy.guard = guard(1);
  const std::uint32_t gone = writer.add(stream, copy, before);
  std::vector<std::uint32_t> dropped;
  for (int i = 0; i < 1000; ++i)
    dropped.push_back(writer.add(stream, copy, {gone}));
  copy.guard = guard(0);
  for (int i = 0; i < 1000; ++i)
    writer.add(stream, copy, {dropped[static_cast<std::size_t>(i)]});

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

/// A box is one extent, however many nodes it has.
TEST(Expand, ABoxIsOneStridedExtent) {
  ScheduleWriter writer(Collective::kAllgather, "64x32x32");
  const std::uint32_t stream = writer.stream(writer.color("XYZ", 1, 1, 3));
  Box box;
  box[0] = Interval::relative(60, 8);  // of node 0: 60 to 63 and 0 to 3
  box[2] = Interval::absolute(5);
  Operation send;
  send.kind = OperationKind::kSend;
  send.a = writer.out(1, box);
  send.peer = writer.shift(0, 1);
  writer.add(stream, send);
  const FlatProgram program = expanded(writer.schedule(), 0, uniform(300));
  ASSERT_EQ(program.operations.size(), 1u);
  const FlatRegion& region = program.operations[0].a;
  EXPECT_EQ(region.elements, 8u * 32 * 100);
  ASSERT_EQ(region.extent_count, 1u);
  const StridedExtent& extent = program.extents[0];
  EXPECT_EQ(extent.offset, (60 + 5 * 64 * 32) * 300u + 100);
  EXPECT_EQ(extent.length, 100u);
  ASSERT_EQ(extent.loop_count, 2u);
  EXPECT_EQ(program.loopsOf(extent)[0],
            (RunLoop{.stride = 300, .back = 64 * 300, .repeat = 8, .turn = 4}));
  EXPECT_EQ(program.loopsOf(extent)[1],
            (RunLoop{.stride = 64 * 300, .back = 0, .repeat = 32, .turn = 32}));
  EXPECT_EQ(program.extentsOf(region).size(), 8u * 32);
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

TEST(Expand, CountsPerRank) {
  const std::vector<std::uint64_t> counts = {3, 0, 5, 1};
  const Schedule schedule = samples::meshAllgather(4);
  const FlatProgram packed =
      expanded(schedule, 2, {.count = 0, .per_rank = counts, .displacements = {}});
  EXPECT_EQ(packed.in_elements, 5u);
  EXPECT_EQ(packed.out_elements, 9u);
  EXPECT_EQ(runs(packed, packed.operations[0].dst), "out 3+5");

  const std::vector<std::uint64_t> displacements = {20, 0, 2, 10};
  const FlatProgram apart =
      expanded(schedule, 2, {.count = 0, .per_rank = counts, .displacements = displacements});
  EXPECT_EQ(apart.out_elements, 23u);
  EXPECT_EQ(runs(apart, apart.operations[0].dst), "out 2+5");
  for (const FlatOperation& operation : apart.operations) {
    EXPECT_GT(std::max(operation.dst.elements, operation.a.elements), 0u);
  }
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

}  // namespace
}  // namespace torc
