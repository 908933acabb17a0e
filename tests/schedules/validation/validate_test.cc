// Faults of a schedule's header and tables: each is an edit of a sound schedule with the exact
// message. Faults of operations are in validate_operations_test.cc.
#include "schedules/validation/validate.h"

#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "tests/schedules/sample_schedule.h"

namespace torc {
namespace {

/// The message of a three-by-two torus allreduce of two colors after `edit`.
std::string fault(const std::function<void(Schedule&)>& edit) {
  Schedule schedule = samples::multicolorAllreduce("3x2", 2);
  edit(schedule);
  const Status status = validate(schedule.view());
  EXPECT_TRUE(status.ok() || status.code() == StatusCode::kMalformed);
  return status.message();
}

std::string allgatherFault(const std::function<void(Schedule&)>& edit) {
  Schedule schedule = samples::meshAllgather(4);
  edit(schedule);
  return validate(schedule.view()).message();
}

#define TABLE_FAULT(edit, message) EXPECT_EQ(fault([&](Schedule& s) { edit; }), message)

TEST(Validate, Segments) {
  TABLE_FAULT(s.segments = 0, "segments: 0, must be 1 to 1048576");
  TABLE_FAULT(s.segments = 1048577, "segments: 1048577, must be 1 to 1048576");
  TABLE_FAULT(s.segments = 1048576, "segments: all 1048576 have more than 4194304 operations");
  EXPECT_EQ(fault([](Schedule& s) {
              s.segments = 1000;
              s.frames.resize(4195, s.frames[0]);
            }),
            "segments: all 1000 have more than 4194304 frames");
  TABLE_FAULT(s.window = 2, "window: 2, must be 1 to 1 in 1 segment");
  EXPECT_EQ(fault([](Schedule& s) {
              s.segments = 2;
              s.window = 256;
            }),
            "window: 256, must be 1 to 255 in 2 segments");
  EXPECT_EQ(fault([](Schedule& s) {
              s.segments = 2;
              s.window = 255;
            }),
            "");
  EXPECT_EQ(fault([](Schedule& s) {
              s.segments = 2;
              s.pieces.push_back({.part = 0, .parts = 2, .box = 0});
            }),
            "piece 0: has 2 parts, which do not follow one another in a segment");
}

TEST(Validate, AcceptsTheSamples) {
  for (const Schedule& schedule : samples::all()) {
    EXPECT_EQ(validate(schedule.view()).message(), "") << schedule.topology.shape();
  }
}

TEST(Validate, AcceptsAScheduleWithoutOperations) {
  Schedule schedule;
  schedule.name = "empty";
  schedule.topology = *parseTopology("4x4");
  EXPECT_TRUE(validate(schedule.view()).ok());
}

TEST(Validate, Collective) {
  TABLE_FAULT(s.collective = static_cast<Collective>(kCollectiveCount),
              "collective " + std::to_string(kCollectiveCount) + " is unknown");
  TABLE_FAULT(s.collective = static_cast<Collective>(255), "collective 255 is unknown");
}

TEST(Validate, Flags) {
  TABLE_FAULT(s.flags = kAllScheduleFlags, "");
  TABLE_FAULT(s.flags |= 0x80000000u, "flags 0x80000000 are unknown");
}

TEST(Validate, Topology) {
  TABLE_FAULT(s.topology.axes[1].size = 0, "topology: axis 1: size must be at least 1");
}

TEST(Validate, Name) {
  TABLE_FAULT(s.name = "_a.B-7", "");
  TABLE_FAULT(s.name = std::string(255, 'a'), "");
  TABLE_FAULT(s.name = std::string(256, 'a'), "name: has 256 characters, at most 255");
  TABLE_FAULT(s.name = "", "name: is empty");
  TABLE_FAULT(s.name = "7up", "name: must start with a letter or _");
  TABLE_FAULT(s.name = "a b", "name: may have letters, digits, _, . and - only");
  TABLE_FAULT(s.name = std::string("a\0", 2), "name: may have letters, digits, _, . and - only");
}

TEST(Validate, Producer) {
  TABLE_FAULT(s.producer = "", "");
  EXPECT_EQ(fault([](Schedule& s) { s.producer = "torc 1 \"pipeline{chunks=4}\" ~"; }), "");
  TABLE_FAULT(s.producer = "a\n", "producer: may have printable ASCII characters only");
  TABLE_FAULT(s.producer = "caf\xc3\xa9", "producer: may have printable ASCII characters only");
  TABLE_FAULT(s.producer = std::string(65536, 'a'),
              "producer: has 65536 characters, at most 65535");
}

TEST(Validate, ColorWeights) {
  TABLE_FAULT(s.colors[1].weight = 0, "color 1: weight must be at least 1");
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  TABLE_FAULT(s.colors[0].weight = kMost - 1, "");
  TABLE_FAULT(s.colors[0].weight = kMost,
              "color 1: the weights add up to more than 9223372036854775807");
  EXPECT_EQ(fault([](Schedule& s) { s.colors[0].weight = ~std::uint64_t{0}; }),
            "color 0: the weights add up to more than 9223372036854775807");
}

TEST(Validate, ColorParts) {
  TABLE_FAULT(s.colors[0].directions = 0, "color 0: has 0 directions, must have 1 or 2");
  TABLE_FAULT(s.colors[0].directions = 3, "color 0: has 3 directions, must have 1 or 2");
  TABLE_FAULT(s.colors[0].chunks = 0, "color 0: has 0 chunks, must have 1 to 1048576");
  TABLE_FAULT(s.colors[0].chunks = 0xffffffff,
              "color 0: has 4294967295 chunks, must have 1 to 1048576");
  // The last color has two parts.
  TABLE_FAULT(s.colors[1].chunks = kMaxParts - 2, "");
  TABLE_FAULT(s.colors[1].chunks = kMaxParts - 1,
              "color 1: the schedule has more than 1048576 parts");
}

TEST(Validate, ColorOrder) {
  TABLE_FAULT(s.colors[0].axis_count = 1, "color 0: orders 1 axes, the topology has 2");
  TABLE_FAULT(s.colors[0].axis_count = 0xffffffff,
              "color 0: orders 4294967295 axes, the topology has 2");
  TABLE_FAULT(s.colors[1].order[0] = 0, "color 1: order must name every axis once");
  TABLE_FAULT(s.colors[1].order[0] = 2, "color 1: order must name every axis once");
  TABLE_FAULT(s.colors[1].order[0] = 255, "color 1: order must name every axis once");
  TABLE_FAULT(s.colors[1].order[7] = 1, "color 1: order: byte 7 is unused but not 0");
  TABLE_FAULT(s.colors[1].reserved = 1, "color 1: reserved bytes are not 0");
}

TEST(Validate, Streams) {
  TABLE_FAULT(s.streams[3].part = 4, "stream 3: part 4 does not exist (schedule has 4)");
  EXPECT_EQ(fault([](Schedule& s) { s.streams.push_back({.part = 3, .core = 9}); }), "")
      << "an unused stream is no fault";
}

TEST(Validate, Intervals) {
  const auto interval_fault = [](const Interval& interval) {
    return fault([&](Schedule& s) { s.boxes[0][0] = interval; });
  };
  EXPECT_EQ(interval_fault({.kind = static_cast<IntervalKind>(10), .start = 0, .length = 1}),
            "box 0: on X: interval kind 10 is unknown");
  EXPECT_EQ(interval_fault(Interval::ofPeer(true)),
            "operation 0: a: counts from a peer on X, but there is no loop over peers");
  EXPECT_EQ(interval_fault({.kind = IntervalKind::kAll, .start = 1, .length = 0}),
            "box 0: on X: the whole axis has start 0 and length 0, not 1 and 0");
  EXPECT_EQ(interval_fault({.kind = IntervalKind::kAll, .start = 0, .length = 3}),
            "box 0: on X: the whole axis has start 0 and length 0, not 0 and 3");
  EXPECT_EQ(interval_fault({.kind = IntervalKind::kRelative, .step = 1, .length = 1}),
            "box 0: on X: goes by 1 and 0 with the counter of a loop of depth 0");
  EXPECT_EQ(interval_fault({.kind = IntervalKind::kRelative, .loop = 1, .step = 1, .length = 1}),
            "box 0: on X: goes with the counter of a loop, and there is none");
  EXPECT_EQ(interval_fault(Interval::relative(0, 0)), "box 0: on X: length 0 must be 1 to 3");
  EXPECT_EQ(interval_fault(Interval::relative(0, 4)), "box 0: on X: length 4 must be 1 to 3");
  EXPECT_EQ(interval_fault(Interval::absolute(0, 0xffffffff)),
            "box 0: on X: length 4294967295 must be 1 to 3");
  EXPECT_EQ(interval_fault(Interval::absolute(-1)), "box 0: on X: start -1 is outside (size 3)");
  EXPECT_EQ(interval_fault(Interval::absolute(3)), "box 0: on X: start 3 is outside (size 3)");
}

TEST(Validate, UnusedBoxes) {
  const auto box_fault = [](std::uint32_t axis, const Interval& interval) {
    return allgatherFault([&](Schedule& s) { s.boxes.emplace_back()[axis] = interval; });
  };
  const std::size_t boxes = samples::meshAllgather(4).boxes.size();
  const std::string box = "box " + std::to_string(boxes) + ": ";
  EXPECT_EQ(box_fault(0, Interval::absolute(1, 3)), "");
  EXPECT_EQ(box_fault(0, Interval::absolute(2, 3)), box + "on X: 2:3 leaves the mesh (size 4)");
  EXPECT_EQ(box_fault(0, Interval::relative(std::numeric_limits<std::int32_t>::min(), 4)), "")
      << "nobody executes with it";
  EXPECT_EQ(box_fault(1, Interval::relative(0)), box + "axis 1 does not exist but is not *");
  EXPECT_EQ(box_fault(7, {.kind = IntervalKind::kAll, .start = 0, .length = 1}),
            box + "axis 7 does not exist but is not *");
}

TEST(Validate, Shifts) {
  EXPECT_EQ(fault([](Schedule& s) { s.shifts.push_back({2, -1}); }), "");
  EXPECT_EQ(fault([](Schedule& s) {
              s.shifts[0] = {3, 0};
            }),
            "shift 0: 3 on X goes all the way round (size 3)");
  EXPECT_EQ(fault([](Schedule& s) {
              s.shifts[0] = {0, -2};
            }),
            "shift 0: -2 on Y goes all the way round (size 2)");
  EXPECT_EQ(fault([](Schedule& s) { s.shifts[0] = {}; }), "shift 0: leads to the node itself");
  TABLE_FAULT(s.shifts[0][2] = 1, "shift 0: axis 2 does not exist but is not 0");
}

TEST(Validate, Frames) {
  TABLE_FAULT(s.frames[1].part = 4, "frame 1: part 4 does not exist (schedule has 4)");
  TABLE_FAULT(s.frames[1].box = kNone, "frame 1: box 4294967295 does not exist (schedule has 13)");
  TABLE_FAULT(s.frames[1].slot = 12, "frame 1: slot 12 does not exist (schedule has 12)");
  TABLE_FAULT(s.frames[1].pieces = 1, "frame 1: piece 2 does not exist (schedule has 0)");
  TABLE_FAULT(s.slot_count = 0xffffffff, "has 4294967295 slots for 12 frames");
}

}  // namespace
}  // namespace torc
