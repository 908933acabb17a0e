// The text form: printed programs (printed_*.tir) read back as the same, and the pieces for
// messages.
#include "ir/text/text.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>
#include <llvm/ADT/StringRef.h>
#include <rapidcheck/gtest.h>

#include "schedules/validation/validate.h"
#include "tests/ir/random_schedule.h"
#include "tests/schedules/sample_schedule.h"

namespace torc::ir {
namespace {

/// The program of `text`, or a test failure and an empty one.
Program parsed(llvm::StringRef text) {
  llvm::Expected<Program> program = parseProgram(text, "t.tir");
  if (program) return std::move(*program);
  ADD_FAILURE() << llvm::toString(program.takeError()) << "\nin\n" << text.str();
  return {};
}

Program stepsOf(Schedule schedule) {
  return {std::move(schedule), {}};
}

TEST(Text, SamplesReadBack) {
  for (Schedule& schedule : samples::all()) {
    const Program program = stepsOf(std::move(schedule));
    const std::string text = programText(program);
    const Program again = parsed(text);
    EXPECT_EQ(again.schedule.view(), canonicalize(program.schedule.view()).view()) << text;
    EXPECT_EQ(programText(again), text);
  }
}

RC_GTEST_PROP(Text, ReadsBack, ()) {
  const Draw draw = [](std::int64_t lowest, std::int64_t highest) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(lowest, highest + 1));
  };
  for (int i = 0; i < 20; ++i) {
    const Program program = randomProgram(draw);
    const Status status = validate(program.schedule.view());
    if (!status.ok()) RC_FAIL("the generator is wrong: " + status.message());
    const std::string text = programText(program);
    llvm::Expected<Program> again = parseProgram(text, "t.tir");
    if (!again) RC_FAIL(llvm::toString(again.takeError()) + "\n" + text);
    const Schedule canonical = canonicalize(program.schedule.view());
    RC_ASSERT(again->schedule.view() == canonical.view());
    RC_ASSERT(again->plan == program.plan);
    RC_ASSERT(programText(*again) == text);
    RC_ASSERT(canonicalize(canonical.view()).view() == canonical.view());
  }
}

// What may be written by hand: other spacing and comments, defaults left out.
TEST(Text, ReadsLooseText) {
  const Program loose = parsed(
      "schedule@s{collective allreduce topology torus[X=4]order X\r\n"
      "color 0 weight 1/1 order X// directions 2\n"
      "\tstream 0 of p0 phase 1{stream 0{%0=send in[p0,(x- 1:2)]to X+1 when*\n"
      "%1=recv out[p0,(x)]from X-1 after%0,%0}stream 0{}}phase 7{}}");
  const Schedule& schedule = loose.schedule;
  ASSERT_EQ(schedule.operations.size(), 2u);
  EXPECT_EQ(schedule.colors[0].directions, 1u);
  EXPECT_EQ(schedule.operations[1].phase, 1);
  EXPECT_EQ(schedule.dependences, std::vector<std::uint32_t>{0});
  EXPECT_EQ(operationText(schedule.view(), 0), "%0 = send in[p0, (x-1:2)] to X+1 when *");
  EXPECT_EQ(operationText(schedule.view(), 1), "%1 = recv out[p0, (x)] from X-1 after %0");
}

TEST(Text, GuardsAreCyclicRanges) {
  const Topology topology = *parseTopology("8x4");
  Schedule schedule;
  schedule.topology = topology;
  Operation operation;
  operation.guard = 0;
  schedule.operations = {operation};
  auto text = [&](const Interval& x, const Interval& y) {
    Box guard;
    guard[0] = x;
    guard[1] = y;
    schedule.boxes = {guard};
    return operationText(schedule.view(), 0).substr(std::string("%0 = send nothing to ?").size());
  };
  EXPECT_EQ(text(Interval::absolute(1, 6), Interval::absolute(0)), " when x in 1..6, y = 0");
  EXPECT_EQ(text(Interval::absolute(6, 4), Interval::all()), " when x in 6..1");
  EXPECT_EQ(text(Interval::absolute(3, 8), Interval::all()), " when x in 3..2");
  EXPECT_EQ(text(Interval::all(), Interval::absolute(3, 2)), " when y in 3..0");
  EXPECT_EQ(text(Interval::all(), Interval::all()), " when *");
}

TEST(Text, Pieces) {
  const Topology topology = *parseTopology("8x4m+2");
  Box box;
  box[0] = Interval::relative(-1, 2);
  box[1] = Interval::absolute(3);
  EXPECT_EQ(boxText(topology, box), "(x-1:2, 3, *)");
  box[1] = Interval::absolute(0, 3);
  box[2] = Interval::relative(1);
  EXPECT_EQ(boxText(topology, box), "(x-1:2, 0:3, t+1)");
  Schedule schedule;
  schedule.topology = topology;
  schedule.boxes = {box};
  EXPECT_EQ(regionText(schedule.view(), boxRegion(Buffer::kOut, 2, 0)),
            "out[p2, (x-1:2, 0:3, t+1)]");
  EXPECT_EQ(regionText(schedule.view(), boxRegion(Buffer::kScratch, 2, 0, 5)),
            "f5[(x-1:2, 0:3, t+1)]");
  // A message about a faulty schedule can still be made.
  EXPECT_EQ(regionText(schedule.view(), boxRegion(Buffer::kIn, 2, 7)), "in[p2, (?)]");
  Operation send;
  send.peer = 0;  // the first of no shifts
  schedule.operations = {send};
  EXPECT_EQ(operationText(schedule.view(), 0), "%0 = send nothing to ?");
}

// The order of boxes in the table, unused ones and equal ones make no difference.
TEST(Text, CanonicalTables) {
  const Schedule schedule = samples::multicolorAllreduce("3x2");
  Schedule other = schedule;
  std::ranges::reverse(other.boxes);
  const auto last = static_cast<std::uint32_t>(other.boxes.size() - 1);
  for (Frame& frame : other.frames)
    frame.box = last - frame.box;
  for (Operation& operation : other.operations) {
    for (Region* region : {&operation.dst, &operation.a, &operation.b}) {
      if (region->present()) region->box = last - region->box;
    }
  }
  other.boxes.push_back(other.boxes[other.operations[0].a.box]);
  other.operations[0].a.box = last + 1;
  other.boxes.push_back(Box{});
  EXPECT_NE(other.view(), schedule.view());
  EXPECT_EQ(canonicalize(other.view()).view(), canonicalize(schedule.view()).view());
}

}  // namespace
}  // namespace torc::ir
