// Loops: a schedule with loops is equivalent to its unrolled form (unrolled_*.tir). Meaningless
// ones are in loop_faults_test.cc.
#include <algorithm>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/ADT/Twine.h>
#include <llvm/Support/Error.h>

#include "ir/text/text.h"
#include "schedules/expansion/expand.h"
#include "schedules/format/file.h"
#include "schedules/loops/loop_nest.h"
#include "schedules/loops/unroll.h"
#include "schedules/validation/validate.h"
#include "tests/ir/loops/ring_text.h"

namespace torc::ir {
namespace {

TEST(Loops, AreTheSameInAFile) {
  const Schedule schedule = parsed(kRing);
  EXPECT_EQ(schedule.loops, std::vector<Loop>({{1, 3, 6}}));
  EXPECT_EQ(operationRuns(schedule.view()), 14u);
  const auto loaded = readSchedule(writeSchedule(schedule.view()), "ring.torc");
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_EQ(loaded->view(), schedule.view());
}

/// One rank's program is that of the loops written out, but for the operations' numbers.
TEST(Loops, ExpandToWhatTheyAreWrittenOut) {
  const Schedule schedule = parsed(kRing);
  const UnrolledLoops unrolled = unrollLoops(schedule.view());
  EXPECT_EQ(unrolled.operations[12], 2u);
  EXPECT_EQ(unrolled.counters[12][0], 5u);
  for (const std::int32_t rank : {0, 5}) {
    Counts counts;
    counts.count = 13;
    const StatusOr<FlatProgram> one = expand(schedule.view(), rank, counts);
    const StatusOr<FlatProgram> other = expand(unrolled.schedule.view(), rank, counts);
    ASSERT_TRUE(one.ok() && other.ok());
    ASSERT_EQ(one->operations.size(), other->operations.size());
    EXPECT_EQ(one->dependences, other->dependences);
    EXPECT_EQ(one->tag_count, other->tag_count);
    EXPECT_EQ(tagCount(schedule.view()), one->tag_count);
    EXPECT_EQ(one->scratch_elements, other->scratch_elements);
    for (std::size_t i = 0; i < one->operations.size(); ++i) {
      EXPECT_EQ(one->operations[i].tag, other->operations[i].tag);
      EXPECT_EQ(one->operations[i].unrolled, other->operations[i].source);
      EXPECT_EQ(one->operations[i].source, unrolled.operations[other->operations[i].source]);
    }
  }
}

/// Frames may have more copies than the loop has iterations, or nobody who uses them.
TEST(Loops, LeaveOutSlotsThatNobodyUses) {
  for (const int iterations : {1, 3, 6, 9}) {
    const Schedule schedule = parsed(looped(
        "  slots 6\n  frame f0 = p0 (x) in slot 5\n  frame f1 = p0 (x+i) in slots 0..4 from 2\n",
        iterations, "%0 = copy f1[*] = in[p0, (x+i)]"));
    const UnrolledLoops unrolled = unrollLoops(schedule.view());
    const Status status = validate(unrolled.schedule.view());
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(unrolled.schedule.slot_count, static_cast<std::uint32_t>(std::min(iterations, 5)));
  }
}

}  // namespace
}  // namespace torc::ir
