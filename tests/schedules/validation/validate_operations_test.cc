// Faults of operations: each is an edit of a sound schedule with the exact message.
#include "schedules/validation/validate_operations.h"

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "schedules/validation/validate.h"
#include "tests/schedules/sample_schedule.h"

namespace torc {
namespace {

using samples::ScheduleWriter;

std::string faultOf(Schedule schedule, const std::function<void(Schedule&)>& edit) {
  edit(schedule);
  return validate(schedule.view()).message();
}

/// Of the ring of 4: operations 0 to 5 are (send, recv_reduce) in phase 0, 6 to 11 (send, recv) in
/// phase 1, each pair on stream 0. Frame s holds what step s receives.
std::string ringFault(const std::function<void(Schedule&)>& edit) {
  return faultOf(samples::ringAllreduce(4), edit);
}

/// Of the mesh of 4: operation 0 is the copy; then line +, (send, recv) for k = 0, 1, 2; then
/// line -. Operation 1 sends out[x] to x+1 when x in 0..2, operation 2 receives out[x-1] from x-1
/// when x in 1..3.
std::string meshFault(const std::function<void(Schedule&)>& edit) {
  return faultOf(samples::meshAllgather(4), edit);
}

std::uint32_t addBox(Schedule& schedule, const Interval& x) {
  schedule.boxes.emplace_back()[0] = x;
  return static_cast<std::uint32_t>(schedule.boxes.size()) - 1;
}

#define MESH_FAULT(edit, message) EXPECT_EQ(meshFault([&](Schedule& s) { edit; }), message)
#define RING_FAULT(edit, message) EXPECT_EQ(ringFault([&](Schedule& s) { edit; }), message)

TEST(ValidateOperation, Kind) {
  RING_FAULT(s.operations[3].kind = static_cast<OperationKind>(7),
             "operation 3: operation kind 7 is unknown");
  RING_FAULT(s.operations[3].peer_kind = static_cast<PeerKind>(2),
             "operation 3: peer kind 2 is unknown");
}

TEST(ValidateOperation, PhasesAscend) {
  RING_FAULT(s.operations[2].phase = 1, "operation 3: phase 0 comes after phase 1");
  RING_FAULT(s.operations[11].phase = 65535, "");
}

TEST(ValidateOperation, Stream) {
  RING_FAULT(s.operations[3].stream = 9, "operation 3: stream 9 does not exist (schedule has 1)");
}

TEST(ValidateOperation, ReducesOnlyWhereTheCollectiveDoes) {
  EXPECT_EQ(ringFault([](Schedule& s) { s.collective = Collective::kAllgather; }).substr(0, 12),
            "operation 0:");
  EXPECT_EQ(meshFault([](Schedule& s) {
              s.operations[0].kind = OperationKind::kReduce;
              s.operations[0].b = s.operations[0].a;
            }),
            "operation 0: reduce has no meaning: allgather does not reduce");
}

TEST(ValidateOperation, DependencesFormOneList) {
  // Operation 2 depends on 1; it is the first that depends on anything.
  RING_FAULT(s.operations[0].first_dependence = 1,
             "operation 0: its dependences start at 1, those before it end at 0");
  RING_FAULT(s.operations[3].first_dependence = 0,
             "operation 3: its dependences start at 0, those before it end at 1");
  RING_FAULT(s.operations[3].dependence_count = 0xffffffff,
             "operation 3: its dependences end at 4294967296, the table at 28");
  RING_FAULT(s.dependences.push_back(0), "dependences: 29 records, operations use 28");
}

TEST(ValidateOperation, DependencesNameOperationsAbove) {
  RING_FAULT(s.dependences[0] = 2, "operation 2: depends on operation 2, which is not above it");
  RING_FAULT(s.dependences[0] = 0xffffffff,
             "operation 2: depends on iterations 254, which do not exist (schedule has 0)");
}

TEST(ValidateOperation, DependencesNameOperationsOfEarlierSegments) {
  const auto inSegments = [](std::uint32_t operation, std::uint16_t before,
                             std::uint32_t segments = 3) {
    return [=](Schedule& s) {
      s.segments = segments;
      s.window = segments - 1;
      s.dependences[0] = s.dependence(operation, {.segments = before});
    };
  };
  EXPECT_EQ(ringFault(inSegments(11, 1)), "");
  EXPECT_EQ(ringFault(inSegments(3, 15)), "");
  EXPECT_EQ(ringFault(inSegments(1000, 1)),
            "operation 2: depends on operation 1000, which does not exist");
  EXPECT_EQ(ringFault([](Schedule& s) { s.dependences[0] = s.dependence(11, {.segments = 1}); }),
            "iterations 0: of 1 segments before, in a schedule of 1");
  EXPECT_EQ(ringFault([](Schedule& s) { s.dependences[0] = s.dependence(11, {.depth = 1}); }),
            "iterations 0: of 1 loops, and there are none");
}

TEST(ValidateOperation, DependencesAscend) {
  // Operation 6, the first of phase 1, depends on 0 to 5.
  Schedule schedule = samples::ringAllreduce(4);
  const std::uint32_t first = schedule.operations[6].first_dependence;
  ASSERT_EQ(schedule.operations[6].dependence_count, 6u);
  EXPECT_EQ(faultOf(schedule, [&](Schedule& s) { s.dependences[first + 1] = 0; }),
            "operation 6: dependence 0 comes after 0; they must ascend");
  EXPECT_EQ(faultOf(schedule, [&](Schedule& s) { s.dependences[first + 2] = 0; }),
            "operation 6: dependence 0 comes after 1; they must ascend");
}

TEST(ValidateOperation, Guard) {
  MESH_FAULT(s.operations[1].guard = 99,
             "operation 1: guard: box 99 does not exist (schedule has 16)");
  MESH_FAULT(s.operations[0].guard = addBox(s, Interval::all()), "");
  MESH_FAULT(s.operations[0].guard = addBox(s, Interval::relative(0)),
             "operation 0: guard: is relative on X");
}

TEST(ValidateOperation, Peer) {
  RING_FAULT(s.operations[0].peer = 2,
             "operation 0: peer: shift 2 does not exist (schedule has 2)");
  RING_FAULT(s.operations[1].peer = kNone,
             "operation 1: peer: shift 4294967295 does not exist (schedule has 2)");
  MESH_FAULT(s.operations[0].peer = 0, "operation 0: copy has a peer");
}

TEST(ValidateOperation, PeerStaysOnTheMesh) {
  // The guard of operation 1 admits x in 0..2, and it sends to x+1.
  MESH_FAULT(s.operations[1].guard = addBox(s, Interval::absolute(1, 3)),
             "operation 1: peer: X=4 is outside the mesh (size 4)");
  MESH_FAULT(s.operations[1].guard = kNone, "operation 1: peer: X=4 is outside the mesh (size 4)");
  MESH_FAULT(s.shifts[s.operations[1].peer][0] = -1,
             "operation 1: peer: X=-1 is outside the mesh (size 4)");
}

TEST(ValidateOperation, RegionsThatTheKindAsksFor) {
  EXPECT_EQ(ringFault([](Schedule& s) { s.operations[0].a = {}; }), "operation 0: a: is missing");
  RING_FAULT(s.operations[0].dst = s.operations[0].a, "operation 0: dst: send has no such region");
  RING_FAULT(s.operations[0].b.part = 1, "operation 0: b: send has no such region");
  RING_FAULT(s.operations[7].a = s.operations[7].dst, "operation 7: a: recv has no such region");
  EXPECT_EQ(ringFault([](Schedule& s) { s.operations[1].b = {}; }), "operation 1: b: is missing");
}

TEST(ValidateOperation, RegionFields) {
  RING_FAULT(s.operations[0].a.buffer = static_cast<Buffer>(4),
             "operation 0: a: buffer 4 is unknown");
  RING_FAULT(s.operations[0].a.reserved = 1, "operation 0: a: reserved bytes are not 0");
  RING_FAULT(s.operations[0].a.part = 1, "operation 0: a: part 1 does not exist (schedule has 1)");
  RING_FAULT(s.operations[0].a.box = kNone,
             "operation 0: a: box 4294967295 does not exist (schedule has 5)");
  RING_FAULT(s.operations[0].a.frame = 0,
             "operation 0: a: in has a frame, which is for scratch alone");
  EXPECT_EQ(ringFault([](Schedule& s) {
              s.colors[0].chunks = 2;
              s.operations[0].a.part = 1;
            }),
            "operation 0: a: part 1 is not that of stream 0 (part 0)");
}

TEST(ValidateOperation, NeverWritesIn) {
  RING_FAULT(s.operations[1].dst.buffer = Buffer::kIn, "operation 1: dst: writes in");
}

TEST(ValidateOperation, RegionStaysOnTheMesh) {
  // Operation 4 receives out[x-2] when x in 2..3.
  MESH_FAULT(s.operations[4].guard = addBox(s, Interval::absolute(1, 3)),
             "operation 4: dst: X=-1 is outside the mesh (size 4)");
  MESH_FAULT(s.boxes[s.operations[4].dst.box][0] = Interval::relative(-1, 3),
             "operation 4: dst: X=4 is outside the mesh (size 4)");
  MESH_FAULT(s.operations[4].dst.box = addBox(s, Interval::relative(2147483647, 4)),
             "operation 4: dst: X=2147483653 is outside the mesh (size 4)");
}

TEST(ValidateOperation, OwnBlockBuffers) {
  const char kFault[] = "operation 0: a: in: holds the own block alone; on X the region has others";
  const auto own_fault = [](const Interval& in, const Interval& guard) {
    return meshFault([&](Schedule& s) {
      s.operations[0].a.box = s.operations[0].dst.box = addBox(s, in);
      s.operations[0].guard = addBox(s, guard);
    });
  };
  EXPECT_EQ(own_fault(Interval::relative(1), Interval::absolute(0, 3)), kFault);
  EXPECT_EQ(own_fault(Interval::all(), Interval::all()), kFault);
  EXPECT_EQ(own_fault(Interval::absolute(2), Interval::absolute(1, 2)), kFault);
  EXPECT_EQ(own_fault(Interval::absolute(2), Interval::absolute(2)), "");
  EXPECT_EQ(own_fault(Interval::absolute(1), Interval::absolute(2)), kFault);
}

TEST(ValidateOperation, OwnBlockOfASingleNode) {
  ScheduleWriter writer(Collective::kAllgather, "1x2");
  const std::uint32_t stream = writer.stream(writer.color("XY"));
  Box own;                         // * on X, where there is but one block
  own[1] = Interval::relative(2);  // twice around
  writer.add(stream, samples::copy(writer.out(0, own), writer.in(0, own)));
  EXPECT_EQ(validate(writer.schedule().view()).message(), "");
}

TEST(ValidateOperation, SameBlocks) {
  const auto blocks_fault = [](const Interval& dst, const Interval& a, const Interval& guard) {
    return ringFault([&](Schedule& s) {
      Operation& operation = s.operations[11];
      operation.kind = OperationKind::kCopy;
      operation.peer = kNone;
      operation.dst.box = addBox(s, dst);
      operation.a = operation.dst;
      operation.a.buffer = Buffer::kIn;
      operation.a.box = addBox(s, a);
      operation.guard = addBox(s, guard);
    });
  };
  const char kFault[] = "operation 11: dst and a: name different blocks on X";
  const Interval anyone = Interval::all();
  EXPECT_EQ(blocks_fault(Interval::relative(-1), Interval::relative(3), anyone), "");
  EXPECT_EQ(blocks_fault(Interval::relative(-5, 2), Interval::relative(3, 2), anyone), "");
  EXPECT_EQ(blocks_fault(Interval::relative(-1), Interval::relative(1), anyone), kFault);
  EXPECT_EQ(blocks_fault(Interval::relative(1), Interval::relative(1, 2), anyone), kFault);
  EXPECT_EQ(blocks_fault(Interval::all(), Interval::relative(1, 4), anyone), "");
  EXPECT_EQ(blocks_fault(Interval::absolute(2, 4), Interval::relative(1, 4), anyone), "");
  EXPECT_EQ(blocks_fault(Interval::all(), Interval::relative(1, 3), anyone), kFault);
  EXPECT_EQ(blocks_fault(Interval::absolute(3), Interval::relative(1), anyone), kFault);
  EXPECT_EQ(blocks_fault(Interval::absolute(3), Interval::relative(1), Interval::absolute(2)), "");
  EXPECT_EQ(blocks_fault(Interval::absolute(0), Interval::relative(1), Interval::absolute(3)), "");
  EXPECT_EQ(blocks_fault(Interval::absolute(3), Interval::relative(1), Interval::absolute(2, 2)),
            kFault);
}

TEST(ValidateOperation, CopiesNothingToItself) {
  MESH_FAULT(s.operations[0].a = s.operations[0].dst, "operation 0: copies a region to itself");
}

TEST(ValidateOperation, Frame) {
  RING_FAULT(s.operations[1].b.frame = 3,
             "operation 1: b: frame 3 does not exist (schedule has 3)");
  RING_FAULT(s.operations[1].b.frame = kNone,
             "operation 1: b: frame 4294967295 does not exist (schedule has 3)");
  RING_FAULT(s.operations[1].b.frame = 1, "operation 1: b: is not inside frame 1 on X");
  EXPECT_EQ(ringFault([](Schedule& s) {
              s.colors[0].chunks = 2;
              s.frames[0].part = 1;
            }),
            "operation 1: b: part 0 is not that of frame 0 (part 1)");
}

TEST(ValidateOperation, RegionInsideItsFrame) {
  // A send from a region of a frame that holds `frame`; guard as given.
  const auto frame_fault = [](const Interval& region, const Interval& frame,
                              const Interval& guard = Interval::all()) {
    return ringFault([&](Schedule& s) {
      s.frames.push_back({.part = 0, .box = addBox(s, frame), .slot = 0});
      s.operations[11].kind = OperationKind::kSend;
      s.operations[11].dst = {};
      s.operations[11].a = boxRegion(Buffer::kScratch, 0, addBox(s, region), 3);
      s.operations[11].guard = addBox(s, guard);
    });
  };
  const char kFault[] = "operation 11: a: is not inside frame 3 on X";
  EXPECT_EQ(frame_fault(Interval::relative(1), Interval::relative(0, 2)), "");
  EXPECT_EQ(frame_fault(Interval::relative(-3), Interval::relative(0, 2)), "");
  EXPECT_EQ(frame_fault(Interval::relative(2), Interval::relative(0, 2)), kFault);
  EXPECT_EQ(frame_fault(Interval::relative(1, 2), Interval::relative(0, 2)), kFault);
  EXPECT_EQ(frame_fault(Interval::relative(-1), Interval::relative(0, 2)), kFault);
  EXPECT_EQ(frame_fault(Interval::relative(2, 3), Interval::all()), "");
  EXPECT_EQ(frame_fault(Interval::absolute(3), Interval::relative(0, 4)), "");
  EXPECT_EQ(frame_fault(Interval::all(), Interval::relative(0, 3)), kFault);
  EXPECT_EQ(frame_fault(Interval::absolute(0), Interval::absolute(3, 2)), "");
  EXPECT_EQ(frame_fault(Interval::absolute(1), Interval::absolute(3, 2)), kFault);
  EXPECT_EQ(frame_fault(Interval::absolute(1), Interval::relative(0, 3)), kFault);
  EXPECT_EQ(frame_fault(Interval::absolute(1), Interval::relative(0, 3), Interval::absolute(2)),
            kFault);
  EXPECT_EQ(frame_fault(Interval::absolute(1), Interval::relative(0, 3), Interval::absolute(0)),
            "");
}

TEST(ValidateOperation, FrameStaysOnTheMesh) {
  ScheduleWriter writer(Collective::kReduceScatter, "4m");
  const std::uint32_t stream = writer.stream(writer.color("X"));
  const Box own = samples::boxOf(Interval::relative(0));
  const std::uint32_t frame = writer.frame(0, samples::boxOf(Interval::relative(0, 2)));
  writer.add(stream, samples::copy(writer.scratch(frame, own), writer.in(0, own)));
  EXPECT_EQ(validate(writer.schedule().view()).message(),
            "operation 0: dst: frame 0: X=4 is outside the mesh (size 4)");
  writer.schedule().operations[0].guard = addBox(writer.schedule(), Interval::absolute(0, 3));
  EXPECT_EQ(validate(writer.schedule().view()).message(), "");
}

TEST(ValidateOperation, StagingOfARecvReduce) {
  EXPECT_EQ(ringFault([](Schedule& s) {
              s.operations[1].b.buffer = Buffer::kOut;
              s.operations[1].b.frame = kNone;
            }),
            "operation 1: b: must be scratch, not out");
  RING_FAULT(s.frames[0].box = addBox(s, Interval::relative(-2, 2)),
             "operation 1: b: does not fill frame 0 on X");
  RING_FAULT(s.operations[1].dst = s.operations[1].b, "operation 1: b: frame 0 is used by dst too");
  RING_FAULT(s.operations[1].a = s.operations[1].b, "operation 1: b: frame 0 is used by a too");
}

TEST(ValidateOperation, OneFrameOfASlotAtATime) {
  EXPECT_EQ(ringFault([](Schedule& s) {
              s.frames.push_back(s.frames[0]);
              s.operations[1].dst = s.operations[1].b;
              s.operations[1].dst.frame = 3;
            }),
            "operation 1: dst and b: are in frames 3 and 0 of one slot (0)");
}

/// The time that validation takes depends on the program, not on the nodes: a schedule for 2^30
/// nodes with every operation guarded is checked at once.
TEST(ValidateOperation, CostDoesNotDependOnTheNodes) {
  ScheduleWriter writer(Collective::kAllreduce, "1024x1024mx1024");
  const std::uint32_t stream = writer.stream(writer.color("XYZ"));
  const Box guard = samples::boxOf(Interval::all(), Interval::absolute(1, 1023));
  const Box region = samples::boxOf(Interval::relative(5, 1000), Interval::relative(-1, 2));
  const Operation send =
      samples::guarded(samples::send(writer.in(0, region), writer.shift(1, -1)), writer.box(guard));
  for (int i = 0; i < 100000; ++i)
    writer.add(stream, send);
  EXPECT_EQ(validate(writer.schedule().view()).message(), "");
}

/// An allgather whose one frame has `count` pieces: the parts one by one, all blocks. Operations
/// copy to one piece each.
Schedule largeFrame(std::uint32_t count, const std::vector<std::uint32_t>& copied, const Box& box) {
  samples::ScheduleWriter writer(Collective::kAllgather, "4x4");
  writer.color("XY", 1, 1, count);
  const std::uint32_t stream = writer.stream(kNone);
  std::vector<Piece> pieces;
  for (std::uint32_t part = 0; part < count; ++part)
    pieces.push_back({part, 1, writer.box(Box{})});
  const std::uint32_t frame = writer.frameOf(writer.list(Buffer::kScratch, pieces));
  const std::uint32_t index = writer.box(box);
  for (const std::uint32_t part : copied) {
    writer.add(stream, samples::copy(boxRegion(Buffer::kScratch, part, index, frame),
                                     boxRegion(Buffer::kOut, part, index)));
  }
  return writer.take();
}

/// Regions anywhere in a large frame: its pieces are looked at once, not for every region.
TEST(ValidateOperations, LargeFramesAreNotWalkedForEveryRegion) {
  constexpr std::uint32_t kPieces = 60000;
  std::vector<std::uint32_t> copied;
  for (std::uint32_t i = 0; i < 1000; ++i)
    copied.push_back(i * 7919 % kPieces);
  const Schedule schedule = largeFrame(kPieces, copied, Box{});
  EXPECT_LE(validateOperations(schedule.view(), kPieces, {kPieces, kPieces}), kPieces);
}

/// A list costs nothing more in a file, but each time it is named in whatever is made of that.
TEST(ValidateOperations, SharedListsAreBoundedByTheSizeOfTheTables) {
  constexpr std::uint32_t kPieces = 60000;
  samples::ScheduleWriter writer(Collective::kAllreduce, "4x4");
  writer.color("XY", 1, 1, kPieces);
  const std::uint32_t stream = writer.stream(kNone);
  std::vector<Piece> pieces;
  for (std::uint32_t part = 0; part < kPieces; ++part)
    pieces.push_back({part, 1, writer.box(Box{})});
  Operation copy;
  copy.kind = OperationKind::kCopy;
  copy.a = copy.dst = writer.list(Buffer::kIn, pieces);
  copy.dst.buffer = Buffer::kOut;
  for (int i = 0; i < 8; ++i)
    writer.add(stream, copy);
  Schedule schedule = writer.take();
  EXPECT_TRUE(validate(schedule.view()).ok());
  for (int i = 0; i < 8; ++i)
    schedule.operations.push_back(schedule.operations.back());
  EXPECT_EQ(validate(schedule.view()).message(),
            "operation 8: dst: the lists up to here have more than 964352 pieces: too many for "
            "the schedule's size");
}

TEST(ValidateOperations, ManyPartsAreBoundedByTheSizeOfTheTables) {
  samples::ScheduleWriter writer(Collective::kAllreduce, "4x4");
  writer.color("XY", 1, 1, kMaxParts);
  const std::uint32_t stream = writer.stream(kNone);
  Operation copy;
  copy.kind = OperationKind::kCopy;
  copy.a = copy.dst = writer.list(Buffer::kIn, {{0, kMaxParts, writer.box(Box{})}});
  copy.dst.buffer = Buffer::kOut;
  writer.add(stream, copy);
  EXPECT_NE(validate(writer.take().view()).message().find("the pieces up to here have more than"),
            std::string::npos);
}

/// Where the index does not help, a schedule that would take long is refused.
TEST(ValidateOperations, SearchesOfAFrameAreBounded) {
  constexpr std::uint32_t kPieces = 60000;
  Box some;
  some[0] = Interval::absolute(1);
  const Schedule few = largeFrame(kPieces, std::vector<std::uint32_t>(50, kPieces - 1), some);
  validateOperations(few.view(), kPieces, {kPieces, kPieces});
  const Schedule many = largeFrame(kPieces, std::vector<std::uint32_t>(1000, kPieces - 1), some);
  const Status status = statusOf([&] {
    validateOperations(many.view(), kPieces, {kPieces, kPieces});
  });
  EXPECT_NE(status.message().find("takes too long to find in the pieces of frame 0"),
            std::string::npos);
}

}  // namespace
}  // namespace torc
