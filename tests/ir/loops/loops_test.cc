// Loops: what a schedule with loops means is what it means when they are written out, in all its
// forms. What means nothing is in loop_faults_test.cc.
#include <algorithm>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/ADT/Twine.h>
#include <llvm/Support/Error.h>

#include "ir/json/json.h"
#include "ir/text/text.h"
#include "ir/verifier/verifier.h"
#include "schedules/expansion/expand.h"
#include "schedules/format/file.h"
#include "schedules/loops/loop_nest.h"
#include "schedules/loops/unroll.h"
#include "schedules/validation/validate.h"
#include "tests/ir/loops/looped.h"
#include "tests/ir/loops/ring_text.h"

namespace torc::ir {
namespace {

TEST(Loops, AreTheSameInAllForms) {
  const Schedule schedule = parsed(kRing);
  ASSERT_EQ(schedule.loops.size(), 1u);
  EXPECT_EQ(schedule.loops[0], (Loop{1, 3, 6}));
  EXPECT_EQ(operationRuns(schedule.view()), 14u);
  std::string text;
  llvm::raw_string_ostream out(text);
  printProgram({schedule, {}}, out);
  EXPECT_EQ(parsed(text).view(), schedule.view());
  EXPECT_NE(text.find("      for i in 0..5 {\n        %1 = recv_reduce out[p0, (x-2-i)]"),
            std::string::npos);

  const Schedule from_json = cantFail(readJson(writeJson(schedule.view()), "ring.json"));
  EXPECT_EQ(from_json.view(), schedule.view());
  const auto loaded = readSchedule(writeSchedule(schedule.view()), "ring.torc");
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_EQ(loaded->view(), schedule.view());
}

TEST(Loops, AreWrittenOut) {
  const UnrolledLoops unrolled = unrollLoops(parsed(kRing).view());
  const Schedule& schedule = unrolled.schedule;
  ASSERT_TRUE(validate(schedule.view()).ok()) << validate(schedule.view()).message();
  ASSERT_EQ(schedule.operations.size(), 14u);
  EXPECT_EQ(operationText(schedule.view(), 1),
            "%1 = recv_reduce out[p0, (x-2)] = in[p0, (x-2)] + f0[(x-2)] from X-1");
  EXPECT_EQ(operationText(schedule.view(), 12), "%12 = send out[p0, (x-7)] to X+1 after %11");
  EXPECT_EQ(operationText(schedule.view(), 11),
            "%11 = recv_reduce out[p0, (x-7)] = in[p0, (x-7)] + f5[(x-7)] from X-1 after %7");
  EXPECT_EQ(operationText(schedule.view(), 13),
            "%13 = recv out[p0, (x)] from X-1 after %2, %4, %6, %8, %10, %12");
  EXPECT_EQ(unrolled.operations[12], 2u);
  EXPECT_EQ(unrolled.counters[12][0], 5u);
  for (std::uint32_t frame = 0; frame < 6; ++frame)
    EXPECT_EQ(schedule.frames[frame].slot, frame % 2) << frame;
}

/// A ring in segments: what a loop waits for of an earlier segment may be any iteration of any
/// loop.
std::string ringInSegments() {
  std::string text = replaced(kRing, "  phase 0", "  for s in 0..4 window 2 {\n  phase 0") + "}\n";
  text = replaced(text, "to X+1\n      for", "to X+1 after %0 of s-1\n      for");
  text = replaced(text, "after %1 of i-2", "after %1 of i-2, %1 of (s-2, i+4)");
  text = replaced(text, "X+1 after %1\n", "X+1 after %1, %2 of (s-1, i)\n");
  return replaced(text, "after %2\n", "after %2, %2 of (s-2, all), %3 of s-2\n");
}

TEST(Loops, StandInSegments) {
  llvm::Expected<Program> program = parseProgram(ringInSegments(), "ring.tir");
  ASSERT_TRUE(bool(program)) << llvm::toString(program.takeError());
  const Schedule& schedule = program->schedule;
  std::string text;
  llvm::raw_string_ostream out(text);
  printProgram(*program, out);
  EXPECT_EQ(parsed(text).view(), schedule.view()) << text;
  EXPECT_NE(text.find("to X+1 after %1, %2 of (s-1, i)\n"), std::string::npos) << text;
  EXPECT_EQ(cantFail(readJson(writeJson(schedule.view()), "ring.json")).view(), schedule.view());

  const Schedule unrolled = unrollLoops(schedule.view()).schedule;
  EXPECT_EQ(unrolled.segments, 5u);
  EXPECT_EQ(unrolled.window, 2u);
  ASSERT_TRUE(validate(unrolled.view()).ok()) << validate(unrolled.view()).message();
  EXPECT_EQ(operationText(unrolled.view(), 0), "%0 = send in[p0, (x-1)] to X+1 after %0 of s-1");
  EXPECT_EQ(operationText(unrolled.view(), 1),
            "%1 = recv_reduce out[p0, (x-2)] = in[p0, (x-2)] + f0[(x-2)] from X-1 after %9 of "
            "s-2");
  // There is no iteration of four later.
  EXPECT_EQ(operationText(unrolled.view(), 5),
            "%5 = recv_reduce out[p0, (x-4)] = in[p0, (x-4)] + f2[(x-4)] from X-1 after %1");
  EXPECT_EQ(operationText(unrolled.view(), 13),
            "%13 = recv out[p0, (x)] from X-1 after %2, %4, %6, %8, %10, %12, %2 of s-2, "
            "%4 of s-2, %6 of s-2, %8 of s-2, %10 of s-2, %12 of s-2, %13 of s-2");

  Schedule alone = schedule;
  alone.segments = alone.window = 1;
  EXPECT_EQ(validate(alone.view()).message().substr(0, 48),
            "iterations 0: of 1 segments before, in a schedul");
}

/// One rank's program is that of the loops written out, but for the operations' numbers.
TEST(Loops, ExpandToWhatTheyAreWrittenOut) {
  const Schedule schedule = parsed(kRing);
  const UnrolledLoops unrolled = unrollLoops(schedule.view());
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

/// Loops in loops, over guards that grow and steps of two, with iterations named in every way.
TEST(Loops, StandInLoops) {
  constexpr char kNest[] = R"(schedule @nest {
  collective allgather
  topology torus [X=8 mesh, Y=4] order XY
  color 0 weight 1/1 order XY directions 1 chunks 1
  stream 0 of p0 core 0
  stream 1 of p0 core 0
  phase 0 {
    stream 0 {
      for i in 0..2 {
        for j in 0..1 {
          %0 = notify to X+1 after %1 of (i-1, last) when x in 0..0+i
          %1 = await from X-1 after %0 of (i, j-1), %0 when x in 1..1+i
        }
      }
    }
    for i in 0..1 {
      stream 0 {
        %2 = notify to Y+1 after %1 of (first+1, all), %2 of i-1, %0 of (last-i, first)
      }
      stream 1 {
        %3 = notify to Y+2 after %0 of (i, last-1), %2 when x = 2*i
      }
    }
  }
}
)";
  std::string text = replaced(kNest, "x = 2*i", "x = 0+2*i");
  const Schedule schedule = parsed(text);
  const UnrolledLoops unrolled = unrollLoops(schedule.view());
  const ScheduleView view = unrolled.schedule.view();
  ASSERT_EQ(view.operations.size(), 16u);
  EXPECT_EQ(operationText(view, 0), "%0 = notify to X+1 when x = 0");
  EXPECT_EQ(operationText(view, 1), "%1 = await from X-1 after %0 when x = 1");
  EXPECT_EQ(operationText(view, 3), "%3 = await from X-1 after %0, %2 when x = 1");
  EXPECT_EQ(operationText(view, 4), "%4 = notify to X+1 after %3 when x in 0..1");
  EXPECT_EQ(operationText(view, 11), "%11 = await from X-1 after %8, %10 when x in 1..3");
  EXPECT_EQ(operationText(view, 12), "%12 = notify to Y+1 after %5, %7, %8");
  EXPECT_EQ(operationText(view, 13), "%13 = notify to Y+2 after %0, %12 when x = 0");
  EXPECT_EQ(operationText(view, 14), "%14 = notify to Y+1 after %4, %5, %7, %12");
  EXPECT_EQ(operationText(view, 15), "%15 = notify to Y+2 after %4, %14 when x = 2");
  std::string printed;
  llvm::raw_string_ostream out(printed);
  printProgram({schedule, {}}, out);
  EXPECT_EQ(parsed(printed).view(), schedule.view());
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
