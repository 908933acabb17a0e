// Schedules whose cost would exceed their size without limits: operations that all touch the same
// memory, dependences through operations that a rank does not run, lists that share their pieces.
// The tests assert the number of steps.
#include <gtest/gtest.h>

#include "ir/verifier/verifier.h"
#include "tests/schedules/sample_schedule.h"

namespace torc::ir {
namespace {

using samples::boxOf;
using samples::ScheduleWriter;

/// An allreduce on `nodes` nodes in a ring, without operations.
ScheduleWriter emptySchedule(std::uint32_t nodes, std::uint32_t chunks = 1) {
  ScheduleWriter writer(Collective::kAllreduce, std::to_string(nodes));
  writer.color("X", 1, 1, chunks);
  writer.stream(chunks == 1 ? 0 : kNone);
  return writer;
}

void addCopy(ScheduleWriter& writer, const Region& blocks, std::uint32_t guard = kNone,
             const std::vector<std::uint32_t>& after = {}) {
  Region in = blocks;
  in.buffer = Buffer::kIn;
  writer.add(0, samples::guarded(samples::copy(blocks, in), guard), after);
}

/// `copies` that rank 0 runs, one after the other; one of rank 1 after all of them; `copies` of
/// rank 1 after that one, or after each other.
Schedule gather(std::uint32_t copies, bool in_a_row) {
  ScheduleWriter writer = emptySchedule(2);
  const Region everything = writer.out(0, Box());
  const std::uint32_t first = writer.box(boxOf(Interval::absolute(0)));
  const std::uint32_t second = writer.box(boxOf(Interval::absolute(1)));
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < copies; ++i) {
    addCopy(writer, everything, first,
            in_a_row && i > 0 ? std::vector{i - 1} : std::vector<std::uint32_t>{});
    all.push_back(i);
  }
  addCopy(writer, everything, second, all);
  for (std::uint32_t i = 0; i < copies; ++i)
    addCopy(writer, everything, second, {in_a_row ? copies + i : copies});
  return writer.take();
}

TEST(VerifierLimits, OperationsOnTheSameMemoryCostWhatTheyAre) {
  for (const bool in_a_row : {false, true}) {
    for (const std::uint32_t copies : {1000u, 4000u}) {
      const Schedule schedule = gather(copies, in_a_row);
      const VerifyResult result = verify(schedule.view());
      EXPECT_EQ(result.ok(), false);  // nothing is summed up, or they race
      EXPECT_EQ(result.faults.front().rule, in_a_row ? Rule::kMeaning : Rule::kRaces);
      const std::size_t size = schedule.operations.size() + schedule.dependences.size();
      EXPECT_LT(result.work, 400 * size) << copies << (in_a_row ? " in a row" : "");
    }
  }
}

/// Of pieces of several parts each, of which every one is told apart.
TEST(VerifierLimits, ListsThatShareTheirPiecesAreRefused) {
  constexpr std::uint32_t kPieces = 5000, kParts = 100;
  ScheduleWriter writer = emptySchedule(kPieces, kParts);
  for (std::uint32_t part = 0; part < kParts; ++part)
    addCopy(writer, writer.out(part, Box()));
  Schedule& schedule = writer.schedule();
  std::vector<Piece> pieces;
  for (std::uint32_t i = 0; i < kPieces; ++i) {
    pieces.push_back({0, kParts, static_cast<std::uint32_t>(schedule.boxes.size())});
    schedule.boxes.push_back(boxOf(Interval::relative(static_cast<std::int32_t>(i))));
  }
  const Region list = writer.list(Buffer::kOut, pieces);
  for (std::uint32_t i = 0; i < 3; ++i)
    addCopy(writer, list);
  const VerifyResult result = verify(schedule.view());
  ASSERT_EQ(result.faults.size(), 1u);
  EXPECT_EQ(result.faults.front().message,
            "too large to prove: regions and frames list 3060000 pieces of a table of 5000");
  EXPECT_EQ(result.work, 0u);
}

TEST(VerifierLimits, ManyMeetingsAreRefused) {
  // Every operation has a box of its own, and every two boxes meet: two steps of each meeting.
  constexpr std::uint32_t kBoxes = 24'000;
  ScheduleWriter writer = emptySchedule(2 * kBoxes + 2);
  Schedule& schedule = writer.schedule();
  for (std::uint32_t i = 0; i < kBoxes; ++i) {
    const auto index = static_cast<std::uint32_t>(schedule.boxes.size());
    schedule.boxes.push_back(boxOf(Interval::absolute(static_cast<std::int32_t>(i), kBoxes)));
    addCopy(writer, boxRegion(Buffer::kOut, 0, index), kNone,
            i > 0 ? std::vector{i - 1} : std::vector<std::uint32_t>{});
  }
  const VerifyResult result = verify(schedule.view());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.faults.back().message,
            "too large to prove: operations meet in the same memory in too many ways");
}

}  // namespace
}  // namespace torc::ir
