// Schedules that cost more than their size says, were they not bounded: operations that all touch
// the same memory, dependences through operations that a rank does not run, lists that share their
// pieces. What is asserted is the number of steps.
#include <gtest/gtest.h>

#include "ir/step_builder.h"
#include "ir/verifier/verifier.h"

namespace torc::ir {
namespace {

/// An allreduce on `nodes` nodes in a ring, without operations.
Schedule emptySchedule(std::uint32_t nodes) {
  Schedule schedule =
      scheduleHeader(Collective::kAllreduce, *parseTopology(std::to_string(nodes)), 1);
  schedule.streams.push_back({0, 0});
  schedule.boxes.push_back({});  // everything
  for (const std::int32_t node : {0, 1}) {
    schedule.boxes.push_back({});
    schedule.boxes.back()[0] = Interval::absolute(node);
  }
  return schedule;
}

void addCopy(Schedule& schedule, const Region& blocks, std::uint32_t guard,
             const std::vector<std::uint32_t>& after) {
  Operation copy;
  copy.kind = OperationKind::kCopy;
  copy.guard = guard;
  copy.a = copy.dst = blocks;
  copy.a.buffer = Buffer::kIn;
  copy.first_dependence = static_cast<std::uint32_t>(schedule.dependences.size());
  copy.dependence_count = static_cast<std::uint32_t>(after.size());
  schedule.dependences.insert(schedule.dependences.end(), after.begin(), after.end());
  schedule.operations.push_back(copy);
}

/// `copies` that rank 0 runs, one after the other; one of rank 1 after all of them; `copies` of
/// rank 1 after that one, or after each other.
Schedule gather(std::uint32_t copies, bool in_a_row) {
  Schedule schedule = emptySchedule(2);
  const Region everything = boxRegion(Buffer::kOut, 0, 0);
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < copies; ++i) {
    addCopy(schedule, everything, 1,
            in_a_row && i > 0 ? std::vector{i - 1} : std::vector<std::uint32_t>{});
    all.push_back(i);
  }
  addCopy(schedule, everything, 2, all);
  for (std::uint32_t i = 0; i < copies; ++i)
    addCopy(schedule, everything, 2, {in_a_row ? copies + i : copies});
  return schedule;
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
  Schedule schedule = emptySchedule(kPieces);
  schedule.colors[0].chunks = kParts;
  schedule.streams[0].part = kNone;
  for (std::uint32_t part = 0; part < kParts; ++part)
    addCopy(schedule, boxRegion(Buffer::kOut, part, 0), kNone, {});
  for (std::uint32_t i = 0; i < kPieces; ++i) {
    Box box;
    box[0] = Interval::relative(static_cast<std::int32_t>(i));
    schedule.pieces.push_back({0, kParts, static_cast<std::uint32_t>(schedule.boxes.size())});
    schedule.boxes.push_back(box);
  }
  const Region list{.buffer = Buffer::kOut, .pieces = kPieces, .part = 0, .box = 0};
  for (std::uint32_t i = 0; i < 3; ++i)
    addCopy(schedule, list, kNone, {});
  const VerifyResult result = verify(schedule.view());
  ASSERT_EQ(result.faults.size(), 1u);
  EXPECT_EQ(result.faults.front().message,
            "too large to prove: regions and frames list 3060000 pieces of a table of 5000");
  EXPECT_EQ(result.work, 0u);
}

TEST(VerifierLimits, ManyMeetingsAreRefused) {
  // Every operation has a box of its own, and every two boxes meet: two steps of each meeting.
  constexpr std::uint32_t kBoxes = 24'000;
  Schedule schedule = emptySchedule(2 * kBoxes + 2);
  for (std::uint32_t i = 0; i < kBoxes; ++i) {
    Box box;
    box[0] = Interval::absolute(static_cast<std::int32_t>(i), kBoxes);
    const auto index = static_cast<std::uint32_t>(schedule.boxes.size());
    schedule.boxes.push_back(box);
    addCopy(schedule, boxRegion(Buffer::kOut, 0, index), kNone,
            i > 0 ? std::vector{i - 1} : std::vector<std::uint32_t>{});
  }
  const VerifyResult result = verify(schedule.view());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.faults.back().message,
            "too large to prove: operations meet in the same memory in too many ways");
}

}  // namespace
}  // namespace torc::ir
