// Families in expansion: the peers of a rank in order, and its flat program.
#include "schedules/expansion/family.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "schedules/expansion/expand.h"
#include "schedules/validate.h"
#include "tests/schedules/sample_schedule.h"

namespace torc {
namespace {

Counts countOf(std::uint64_t count) {
  return {.count = count, .per_rank = {}, .displacements = {}};
}

/// A direct all-to-all on `shape`, and a copy of the own block that waits for all of the result.
Schedule direct(const char* shape, FamilyOrder order) {
  Schedule schedule = samples::directAlltoall(shape);
  schedule.families[0].order = order;
  constexpr std::uint32_t kOwn = 0;  // the pair of boxes of the own block
  schedule.frames = {{0, kOwn, 0, 0}};
  schedule.slot_count = 1;
  Operation last;
  last.kind = OperationKind::kCopy;
  last.dst = boxRegion(Buffer::kScratch, 0, kOwn, 0);
  last.a = boxRegion(Buffer::kOut, 0, kOwn);
  last.dependence_count = 2;
  schedule.operations.push_back(last);
  schedule.dependences = {0, 2};  // the copy and the receives
  return schedule;
}

TEST(Family, ShiftsAreAllButTheOrigin) {
  Family family;
  family.first = {-1, 0};
  family.count = {3, 2};
  EXPECT_EQ(shiftsOf(family, 0, 0), (std::vector<Shift>{{-1, 0}, {1, 0}, {-1, 1}, {0, 1}, {1, 1}}));
  family.order = FamilyOrder::kShuffled;
  std::set<std::vector<Shift>> orders;
  for (std::int32_t rank = 0; rank < 20; ++rank) {
    std::vector<Shift> shifts = shiftsOf(family, rank, 7);
    EXPECT_EQ(shifts, shiftsOf(family, rank, 7));
    orders.insert(shifts);
    std::ranges::sort(shifts);
    EXPECT_EQ(shifts.size(), family.size());
    EXPECT_EQ(std::ranges::adjacent_find(shifts), shifts.end());
    EXPECT_EQ(std::ranges::count(shifts, Shift{}), 0);
  }
  EXPECT_GT(orders.size(), 10u);
}

TEST(Family, ExpandsToAMessagePerPeer) {
  const Schedule schedule = direct("3x2", FamilyOrder::kShuffled);
  ASSERT_TRUE(validate(schedule.view()).ok()) << validate(schedule.view()).message();
  const auto program = expand(schedule.view(), 4, countOf(10));
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->in_elements, 60u);
  EXPECT_EQ(program->out_elements, 60u);
  std::set<std::int32_t> sent, received;
  for (const FlatOperation& operation : program->operations) {
    if (!sends(operation.kind) && !receives(operation.kind)) continue;
    const FlatRegion& region = sends(operation.kind) ? operation.a : operation.dst;
    (sends(operation.kind) ? sent : received).insert(operation.peer);
    ASSERT_EQ(region.extent_count, 1u);
    // The block to a rank, and the one from it, lie where that rank counts.
    EXPECT_EQ(program->extents[region.first_extent].offset,
              static_cast<std::uint64_t>(operation.peer) * 10);
    EXPECT_EQ(region.elements, 10u);
  }
  EXPECT_EQ(sent, (std::set<std::int32_t>{0, 1, 2, 3, 5}));
  EXPECT_EQ(received, sent);
  // What waits for a family of few waits for its messages.
  EXPECT_EQ(program->operations.back().dependence_count, 6u);
}

TEST(Family, OfManyMessagesIsWaitedForByAJoin) {
  const Schedule schedule = direct("8x8", FamilyOrder::kFixed);
  const auto program = expand(schedule.view(), 0, countOf(1));
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->operations.size(), 63u + 1 + 63 + 1 + 1);
  const FlatOperation& last = program->operations.back();
  ASSERT_EQ(last.dependence_count, 2u);
  const FlatOperation& join = program->operations[program->dependencesOf(last)[1]];
  EXPECT_TRUE(join.isJoin());
  EXPECT_EQ(join.dependence_count, 63u);
}

// One rank's program is as large as its own data, whatever the shape.
TEST(Family, OnLargeMachines) {
  for (const char* shape : {"64x32x32", "65536m", "8x8x8x8x16"}) {
    const Schedule schedule = direct(shape, FamilyOrder::kShuffled);
    ASSERT_TRUE(validate(schedule.view()).ok());
    const auto program = expand(schedule.view(), 12345, countOf(2));
    ASSERT_TRUE(program.ok());
    EXPECT_EQ(program->operations.size(), 2u * 65535 + 3) << shape;
    EXPECT_LE(program->extents.size(), program->operations.size() + 2) << shape;
    EXPECT_LE(program->loops.size(), 0u) << shape;
  }
}

TEST(Family, OfCountsThatDifferHasNoSchedule) {
  const Schedule schedule = direct("2", FamilyOrder::kFixed);
  const std::vector<std::uint64_t> counts = {1, 2};
  const auto program =
      expand(schedule.view(), 0, {.count = 0, .per_rank = counts, .displacements = {}});
  EXPECT_EQ(program.status().message(), "alltoall with counts that differ has no schedule");
}

}  // namespace
}  // namespace torc
