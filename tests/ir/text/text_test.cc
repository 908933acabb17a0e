// The text form: what is printed, that it reads back as the same program, the pieces for messages.
#include "ir/text/text.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/raw_ostream.h>
#include <rapidcheck/gtest.h>

#include "schedules/validation/validate.h"
#include "tests/ir/random_schedule.h"
#include "tests/schedules/sample_schedule.h"

namespace torc::ir {
namespace {

std::string print(const Program& program) {
  std::string text;
  llvm::raw_string_ostream out(text);
  printProgram(program, out);
  return text;
}

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

TEST(Text, PrintsSteps) {
  EXPECT_EQ(print(stepsOf(samples::ringReduceScatter(3))),
            R"(// torc schedule, text form 1. The notation in full: docs/developers/ir.md
//
// Every node runs this one program; x is its own coordinate.
// Data is an array of blocks, one per node; each block is cut into parts.
//   out[p0, (x-1)]                  part p0 of the blocks at X = x-1 (cyclic) in the buffer `out`
//   f2[(x)]                         the same, in frame f2 of scratch memory
//   *  3  x-1  x-1:2                all; 3; one before the node's own; that and the next
//   send A to X+1                   to the node one step up X
//   recv_reduce D = A + B from X-1  receive into B, then combine: D = A + B
//   after %4, %7                    starts when these are complete; without it, at once
//   when x in 1..6                  only nodes with these coordinates execute it
//
// Messages of a stream between two nodes match in order.
schedule @reduce_scatter {
  collective reduce_scatter
  topology torus [X=3] order X
  producer "sample"
  color 0 weight 1/1 order X directions 1 chunks 1  // all of every block: p0
  stream 0 of p0 core 0  // color 0, direction +, chunk 0
  slots 3  // of scratch; frames that share a slot take turns in it
  frame f0 = p0 (x-2) in slot 0
  frame f1 = p0 (x-2) in slot 1
  frame f2 = p0 (x-3) in slot 2
  phase 0 {
    stream 0 {  // color 0, direction +, chunk 0, on X
      %0 = send in[p0, (x-1)] to X+1
      %1 = recv_reduce f1[(x-2)] = in[p0, (x-2)] + f0[(x-2)] from X-1
      %2 = send f1[(x-2)] to X+1 after %1
      %3 = recv_reduce out[p0, (x)] = in[p0, (x-3)] + f2[(x-3)] from X-1
    }
  }
}
)");
}

TEST(Text, PrintsPlan) {
  Program program;
  Schedule& schedule = program.schedule;
  schedule.name = "allreduce";
  schedule.topology = *parseTopology("4x3m+2", "TYX");
  schedule.topology.axes[1].bandwidth = 0.5;
  schedule.topology.axes[1].latency = 1e-7;
  schedule.flags = kConflictFreePhases | kSynchronousSends;
  Color color;
  color.axis_count = 3;
  color.order = {2, 0, 1};
  color.directions = 2;
  schedule.colors = {color, color};
  schedule.colors[1].weight = 2;
  program.plan = {{PlanKind::kRingReduceScatter, 0, 2},
                  {PlanKind::kPhaseBarrier, 0, 0},
                  {PlanKind::kRingAllgather, 1, 0},
                  {PlanKind::kRingAllgather, 1, 1, /*half_latency=*/true},
                  {PlanKind::kTreeReduce, 0, 1},
                  {PlanKind::kTreeBroadcast, 1, 2},
                  {PlanKind::kExchange, 0, 0, false, /*axes=*/0b101},
                  {PlanKind::kExchange, 1, /*axis=*/0, false, /*axes=*/0b011, /*stride=*/2}};
  const std::string text =
      R"(// torc schedule, text form 1. The notation in full: docs/developers/ir.md
schedule @allreduce {
  collective allreduce
  topology torus [X=4, Y=3 mesh bandwidth 0.5 latency 1e-07, T=2 cores] order TYX
  promise conflict-free-phases
  sends synchronous
  color 0 weight 1/3 order TXY directions 2 chunks 1  // 1/3 of every block: p0..p1
  color 1 weight 2/3 order TXY directions 2 chunks 1  // 2/3 of every block: p2..p3
  plan {  // phase 0
    ring_reduce_scatter color 0 on T
    phase_barrier  // phase 1
    ring_allgather color 1 on X
    ring_allgather color 1 on Y half-latency
    tree_reduce color 0 on Y
    tree_broadcast color 1 on T
    exchange color 0 on XT
    exchange color 1 on XY stride 2 on X
  }
}
)";
  EXPECT_EQ(print(program), text);
  const Program again = parsed(text);
  EXPECT_EQ(again.schedule.view(), schedule.view());
  EXPECT_EQ(again.plan, program.plan);
}

TEST(Text, SamplesReadBack) {
  for (Schedule& schedule : samples::all()) {
    const Program program = stepsOf(std::move(schedule));
    const std::string text = print(program);
    const Program again = parsed(text);
    EXPECT_EQ(again.schedule.view(), canonicalize(program.schedule.view()).view()) << text;
    EXPECT_EQ(print(again), text);
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
    const std::string text = print(program);
    llvm::Expected<Program> again = parseProgram(text, "t.tir");
    if (!again) RC_FAIL(llvm::toString(again.takeError()) + "\n" + text);
    const Schedule canonical = canonicalize(program.schedule.view());
    RC_ASSERT(again->schedule.view() == canonical.view());
    RC_ASSERT(again->plan == program.plan);
    RC_ASSERT(print(*again) == text);
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

TEST(Text, ProgramWithoutColorsOrPlan) {
  const std::string text =
      "// torc schedule, text form 1. The notation in full: docs/developers/ir.md\n"
      "schedule @spec {\n  collective allgather\n  topology torus [X=2] order X\n}\n";
  const Program program = parsed(text);
  EXPECT_FALSE(program.isPlan());
  EXPECT_EQ(print(program), text);
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
