// Meaningless or excessive loops: each is refused with one message, which names the place in the
// input form (line and column of a text, key path of JSON, record of a file) and, if there is one,
// an iteration.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/ADT/Twine.h>
#include <llvm/Support/Error.h>

#include "ir/json/json.h"
#include "ir/text/text.h"
#include "ir/verifier/verifier.h"
#include "schedules/format/file.h"
#include "schedules/loops/loop_nest.h"
#include "schedules/validation/validate.h"
#include "tests/ir/loops/ring_text.h"

namespace torc::ir {
namespace {

/// Signals, of loops in loops, on a line.
constexpr char kNest[] = R"(schedule @nest {
  collective allgather
  topology torus [X=8 mesh] order X
  color 0 weight 1/1 order X
  stream 0 of p0
  phase 0 {
    stream 0 {
      for i in 0..2 {
        for j in 0..1 {
          %0 = notify to X+1 after %1 of (i-1, last) when x in 0..0+i
          %1 = await from X-1 after %0 of (i, j-1), %0 when x in 1..1+i
        }
      }
      for i in 0..1 {
        %2 = notify to X+1 after %1 of (i, all) when x = 2+2*i
      }
    }
  }
}
)";

std::string faultOf(const std::string& text) {
  llvm::Expected<Program> program = parseProgram(text, "ring.tir");
  return program ? "none" : llvm::StringRef(toString(program.takeError())).split('\n').first.str();
}

TEST(LoopFaults, OfTexts) {
  const auto fault = [](llvm::StringRef what, llvm::StringRef by) {
    return faultOf(replaced(kRing, what, by));
  };
  EXPECT_EQ(faultOf(kRing), "none");
  EXPECT_EQ(fault("for i in 0..5", "for j in 0..5"),
            "ring.tir:11:11: error: expected 'i' the counter of a loop at this depth, found 'j'");
  EXPECT_EQ(
      fault("for i in 0..5", "for i in 1..5"),
      "ring.tir:11:16: error: 1 is too large for 0, where a loop begins to count (largest 0)");
  EXPECT_EQ(
      fault("for i in 0..5", "for i in 0..9223372036854775807"),
      "ring.tir:11:19: error: 9223372036854775807 is too large for the number of an iteration "
      "(largest 4194303)");
  EXPECT_EQ(fault("send in[p0, (x-1)]", "send in[p0, (x-i)]"),
            "ring.tir:10:7: error: operation 0: a: counts from a peer on X, but there is no loop "
            "over peers");
  EXPECT_EQ(fault("send out[p0, (x-2-i)]", "send out[p0, (x-2-j)]"),
            "ring.tir:13:32: error: there is no loop of this counter around it");
  EXPECT_EQ(fault("send out[p0, (x-2-i)]", "send out[p0, (x-2-200*i)]"),
            "ring.tir:13:36: error: an interval goes by 1 to 127 a time, not by -200");
  EXPECT_EQ(fault("after %1 of i-2", "after %1 of i+2"),
            "ring.tir:12:9: error: operation 1: depends on operation 1 of a later iteration of the "
            "loop that both stand in (counter i)");
  EXPECT_EQ(fault("after %1 of i-2", "after %2 of i"),
            "ring.tir:12:9: error: operation 1: depends on operation 2, which is not above it");
  EXPECT_EQ(fault("after %1 of i-2", "after %1 of last"),
            "ring.tir:12:9: error: operation 1: depends on operation 1 of other iterations than "
            "earlier ones of the loop that both stand in (counter i)");
  EXPECT_EQ(fault("after %2\n", "after %2 of i\n"),
            "ring.tir:19:7: error: operation 3: depends on operation 2 by a counter i of its own, "
            "but stands in 0 loops");
  EXPECT_EQ(
      fault("after %2\n", "after %2 of (last, last)\n"),
      "ring.tir:19:7: error: operation 3: depends on operation 2, which stands in 1 loops, by "
      "2 of their iterations");
  EXPECT_EQ(
      fault("after %2\n", "after %0 of last\n"),
      "ring.tir:19:7: error: operation 3: depends on operation 0, which stands in 0 loops, by "
      "1 of their iterations");
  EXPECT_EQ(fault("in slots 0..1", "in slots 1..2"),
            "ring.tir:7:34: error: slot 2 does not exist (schedule has 2)");
  EXPECT_EQ(fault("recv_reduce out[p0, (x-2-i)] = in[p0, (x-2-i)]",
                  "recv_reduce out[p0, (x-2-i:2-i)] = in[p0, (x-2-i)]"),
            "ring.tir:12:9: error: operation 1: dst and a: name different blocks on X");
  EXPECT_EQ(fault("send out[p0, (x-2-i)]", "send out[p0, (x-2:3-i)]"),
            "ring.tir:13:9: error: operation 2: goes on X to x-2:0 where i = 3 (size 8)");
  EXPECT_EQ(fault("send out[p0, (x-2-i)]", "send out[p0, (5+i)]"),
            "ring.tir:13:9: error: operation 2: goes on X to 8:1 where i = 3 (size 8)");
  EXPECT_EQ(fault("to X+1 after %1\n", "to X+1 after %1 when x in 6..6+i\n"),
            "ring.tir:13:9: error: operation 2: guard: leaves X where i = 2 (size 8)");
  EXPECT_EQ(fault("for i in 0..5 {", "for i in 0..5 { } for i in 0..5 {"),
            "ring.tir:11:7: error: loop 0: has no operations");
  EXPECT_EQ(fault("for i in 0..5", "for i in 0..-1"),
            "ring.tir:11:19: error: expected the number of an iteration, found '-'");
  EXPECT_EQ(fault("for i in 0..5", "for i in 0..4294967295"),
            "ring.tir:11:19: error: 4294967295 is too large for the number of an iteration "
            "(largest 4194303)");
  EXPECT_EQ(fault("for i in 0..5 {",
                  "for i in 0..1 { for j in 0..1 { for k in 0..1 { for l in "
                  "0..1 { for m in 0..1 {"),
            "ring.tir:11:71: error: more than 4 loops in one another");
  EXPECT_EQ(fault("after %1 of i-2", "after %2"), "ring.tir:12:90: error: %2 is not defined above");
  EXPECT_EQ(fault("after %1 of i-2", "after %1 of i-4294967296"),
            "ring.tir:12:98: error: 4294967296 is too large for a number of iterations (largest "
            "2147483648)");
}

TEST(LoopFaults, OfTextsWithLoopsInLoops) {
  EXPECT_EQ(faultOf(kNest), "none");
  EXPECT_EQ(faultOf(replaced(kNest, "%0 of (i, j-1)", "%0 of i")),
            "ring.tir:11:11: error: operation 1: depends on operation 0, which stands in 2 loops, "
            "by 1 of their iterations");
  EXPECT_EQ(faultOf(replaced(kNest, "%0 of (i, j-1)", "%0 of (i, i-1)")),
            "ring.tir:11:47: error: expected a segment (s-1), or an iteration of the loop at this "
            "depth (j-1, first, last, all), found 'i'");
  EXPECT_EQ(faultOf(replaced(kNest, "(i-1, last)", "(i, last)")),
            "ring.tir:10:11: error: operation 0: depends on operation 1 of other iterations than "
            "earlier ones of the loop that both stand in (counter j)");
}

/// Loops leave a mesh in some iteration that is neither the first nor written down.
TEST(LoopFaults, StayOnMeshes) {
  const std::string text =
      replaced(replaced(replaced(kRing, "X=8", "X=8 mesh"), "to X+1\n      for",
                        "to X+1 when x in 1..6\n      for"),
               "send out[p0, (x-2-i)] to X+1 after %1", "send out[p0, (x-1-i)] to X+1 when x = 6");
  const std::string fault = faultOf(text);
  EXPECT_NE(fault.find("outside the mesh"), std::string::npos) << fault;
}

/// What is wrong with records alone, which a text cannot say, or says otherwise.
struct BadRecords {
  std::function<void(Schedule&)> change;
  const char* json;  // key path; null: the JSON form has no word for it
  const char* file;  // the record
  const char* message;
};

/// Makes `waits` wait for these iterations of `on`, in place of its last dependence.
void wait(Schedule& schedule, std::uint32_t waits, std::uint32_t on, const Iterations& iterations) {
  schedule.iterations.push_back(iterations);
  const Operation& operation = schedule.operations[waits];
  schedule.dependences[operation.first_dependence + operation.dependence_count - 1] =
      dependenceOn(on, static_cast<std::uint32_t>(schedule.iterations.size()));
}

void expectFaults(const char* text, const std::vector<BadRecords>& cases) {
  for (const BadRecords& bad : cases) {
    Schedule schedule = parsed(text);
    bad.change(schedule);
    const auto from_file = readSchedule(writeSchedule(schedule.view()), "a.torc");
    EXPECT_EQ(from_file.ok() ? "none" : from_file.status().message(),
              std::string("a.torc: ") + bad.file + ": " + bad.message);
    if (bad.json == nullptr) continue;
    llvm::Expected<Schedule> from_json = readJson(writeJson(schedule.view()), "a.json");
    EXPECT_EQ(from_json ? "none" : toString(from_json.takeError()),
              std::string("a.json: ") + bad.json + ": " + bad.message);
  }
}

TEST(LoopFaults, OfRecordsOfLoops) {
  const auto loops = [](const std::vector<Loop>& loops) {
    return [loops](Schedule& schedule) { schedule.loops = loops; };
  };
  constexpr auto kCrossing = "neither follows the loop before it nor lies inside it";
  expectFaults(
      kRing, {{loops({{1, 3, 0}}), nullptr, "loop 0", "has 0 iterations, must have 1 to 4194304"},
              {loops({{1, 3, 4294967295}}), "/loops/0", "loop 0",
               "has 4294967295 iterations, must have 1 to 4194304"},
              {loops({{1, 1, 6}}), "/loops/0", "loop 0", "has no operations"},
              {loops({{3, 1, 6}}), "/loops/0", "loop 0", "has operations 3 to before 1 of 4"},
              {loops({{1, 9, 6}}), "/loops/0", "loop 0", "has operations 1 to before 9 of 4"},
              {loops({{1, 3, 6}, {2, 4, 6}}), "/loops/1", "loop 1", kCrossing},
              {loops({{2, 3, 6}, {1, 2, 6}}), "/loops/1", "loop 1", kCrossing},
              {loops({{1, 2, 6}, {1, 3, 6}}), "/loops/1", "loop 1", kCrossing},
              {loops({{1, 3, 1}, {1, 3, 1}, {1, 3, 1}, {1, 3, 1}, {1, 3, 1}}), "/loops/4", "loop 4",
               "stands in more than 3"},
              {loops({{1, 4, 6}}), "/loops/0", "loop 0", "goes over from phase 0 to 1"},
              {loops({{1, 2, 6}}), "/operations/2", "operation 2",
               "goes on X with the counter i, but stands in 0 loops"},
              {loops({}), "/boxes/0", "box 0",
               "on X: goes with the counter of a loop, and there is none"}});
  Schedule schedule = parsed(kRing);
  const std::string json = writeJson(schedule.view());
  const auto count = [&](llvm::StringRef number) {
    const std::string text = replaced(json, "\"count\":6", ("\"count\":" + number).str());
    return toString(readJson(text, "a.json").takeError());
  };
  for (const char* number : {"0", "-1", "4294967296", "9223372036854775808", "6.0"}) {
    EXPECT_EQ(count(number), "a.json: /loops/0/count: expected an integer from 1 to 4294967295");
  }
}

TEST(LoopFaults, OfRecordsOfIterations) {
  constexpr auto kOwn = IterationOrigin::kOwn, kLast = IterationOrigin::kLast,
                 kFirst = IterationOrigin::kFirst, kAll = IterationOrigin::kAll,
                 kUnknown = static_cast<IterationOrigin>(5);
  const auto waits = [](std::uint32_t operation, std::uint32_t on, const Iterations& iterations) {
    return [=](Schedule& schedule) { wait(schedule, operation, on, iterations); };
  };
  expectFaults(
      kNest,
      {{waits(1, 0, {.depth = 1}), "/operations/1", "operation 1",
        "depends on operation 0, which stands in 2 loops, by 1 of their iterations"},
       {waits(1, 0, {.depth = 2, .offset = {0, 1}}), "/operations/1", "operation 1",
        "depends on operation 0 of a later iteration of the loop that both stand in (counter j)"},
       {waits(1, 0, {.depth = 2, .offset = {1, -1}}), "/operations/1", "operation 1",
        "depends on operation 0 of a later iteration of the loop that both stand in (counter i)"},
       {waits(1, 0, {.depth = 2, .origin = {kOwn, kLast}}), "/operations/1", "operation 1",
        "depends on operation 0 of other iterations than earlier ones of the loop that both stand "
        "in (counter j)"},
       {waits(1, 0, {.depth = 2, .origin = {kOwn, kAll}}), "/operations/1", "operation 1",
        "depends on operation 0 of other iterations than earlier ones of the loop that both stand "
        "in (counter j)"},
       {waits(2, 0, {.depth = 2}), "/operations/2", "operation 2",
        "depends on operation 0 by a counter j of its own, but stands in 1 loops"},
       {waits(2, 2, {.depth = 1}), "/operations/2", "operation 2",
        "depends on operation 2, which is not above it"},
       {waits(2, 9, {.depth = 1}), "/operations/2", "operation 2",
        "depends on operation 9, which does not exist"},
       {waits(2, 0, {.depth = 5}), nullptr, "iterations 3", "of 5 loops, must be of 1 to 4"},
       {waits(2, 0, {.depth = 0}), "/iterations/3", "iterations 3",
        "of 0 loops, must be of 1 to 4"},
       {waits(2, 0, {.depth = 2, .segments = 1}), "/iterations/3", "iterations 3",
        "of 1 segments before, in a schedule of 1"},
       {waits(2, 0, {.depth = 2, .origin = {kUnknown}}), nullptr, "iterations 3",
        "origin 5 is unknown"},
       {waits(2, 0, {.depth = 2, .origin = {kAll}, .offset = {1}}), "/iterations/3", "iterations 3",
        "all of a loop have no offset"},
       {waits(2, 0, {.depth = 2, .origin = {kLast}, .offset = {1}}), "/iterations/3",
        "iterations 3", "1 behind the last of loop 0 is none"},
       {waits(2, 0, {.depth = 2, .origin = {kFirst}, .offset = {-2}}), "/iterations/3",
        "iterations 3", "2 before the first of loop 0 is none"},
       {waits(2, 0, {.depth = 1, .origin = {kAll, kAll}}), nullptr, "iterations 3",
        "say something of loop 1 of 1"},
       {[](Schedule& schedule) { schedule.iterations.clear(); }, "/operations/0", "operation 0",
        "depends on iterations 0, which do not exist (schedule has 0)"},
       {[](Schedule& schedule) { schedule.dependences[0] = 1; }, "/operations/0", "operation 0",
        "depends on operation 1, which is not above it"}});
}

TEST(LoopFaults, OfRecordsThatGoWithCounters) {
  const auto box = [](std::uint32_t index, const Interval& interval) {
    return [=](Schedule& schedule) { schedule.boxes[index][0] = interval; };
  };
  const auto copies = [](std::uint16_t copies) {
    return [=](Schedule& schedule) { schedule.frames[0].copies = copies; };
  };
  constexpr auto kAbsolute = IntervalKind::kAbsolute, kRelative = IntervalKind::kRelative;
  expectFaults(kRing,
               {{box(0, {kAbsolute, 1, 1, 0, 5, 1}), "/operations/1", "operation 1",
                 "goes on X to 8:1 where i = 3 (size 8)"},
                {box(0, {kAbsolute, 1, -1, 0, 3, 1}), "/operations/1", "operation 1",
                 "goes on X to -1:1 where i = 4 (size 8)"},
                {box(0, {kRelative, 1, 0, -1, 0, 3}), "/operations/1", "operation 1",
                 "goes on X to x+0:0 where i = 3 (size 8)"},
                {box(0, {kRelative, 1, 0, 2, 0, 3}), "/operations/1", "operation 1",
                 "goes on X to x+0:9 where i = 3 (size 8)"},
                {box(0, {kRelative, 1, 127, 0, 2147483300, 1}), "/operations/1", "operation 1",
                 "goes on X to x+2147483681:1 where i = 3 (size 8)"},
                {box(0, {kRelative, 2, 1, 0, 0, 1}), "/operations/1", "operation 1",
                 "goes on X with the counter j, but stands in 1 loops"},
                {box(1, {kRelative, 1, -1, 0, -2, 1}), "/operations/0", "operation 0",
                 "goes on X with the counter i, but stands in 0 loops"},
                {box(0, {kRelative, 5, 1, 0, 0, 1}), nullptr, "box 0",
                 "on X: goes by 1 and 0 with the counter of a loop of depth 5"},
                {box(0, {kRelative, 1, 0, 0, 0, 1}), "/boxes/0", "box 0",
                 "on X: goes by 0 and 0 with the counter of a loop of depth 1"},
                {box(0, {IntervalKind::kAll, 1, 1, 0, 0, 0}), nullptr, "box 0",
                 "on X: goes with a counter, but is neither absolute nor relative"},
                {copies(3), "/frames/0", "frame 0", "slot 2 does not exist (schedule has 2)"},
                {copies(0), nullptr, "frame 0", "has 0 copies"}});
  expectFaults(kNest, {{box(0, {kAbsolute, 1, 0, 4, 0, 1}), "/operations/0", "operation 0",
                        "guard: goes on X to 0:9 where i = 2 (size 8)"},
                       {box(0, {kAbsolute, 1, -1, 1, 1, 1}), "/operations/0", "operation 0",
                        "guard: goes on X to -1:3 where i = 2 (size 8)"}});
  Schedule schedule = parsed(kNest);
  schedule.boxes[2][0] = {kAbsolute, 1, 5, 0, 2, 1};
  EXPECT_EQ(validate(schedule.view()).message(),
            "operation 2 where i = 1: peer: X=8 is outside the mesh (size 8)");
}

/// What is wrong in some iteration in the middle alone.
TEST(LoopFaults, HoldInEveryIteration) {
  // In the first iteration both are all of the axis, in the third they begin at x+2 and at x+6.
  EXPECT_NE(faultOf(looped("", 4, "%0 = copy out[p0, (x+i:8-i)] = in[p0, (x+4+5*i:8-i)]"))
                .find("where i = 2: dst and a: name different blocks on X"),
            std::string::npos);
  // In the last iteration the frame is all of the axis.
  EXPECT_NE(faultOf(looped("  slots 1\n  frame f0 = p0 (x+i:5+i) in slot 0\n", 4,
                           "%0 = copy f0[(x+3+i:1+2*i)] = in[p0, (x+3+i:1+2*i)]"))
                .find("where i = 2: dst: is not inside frame "),
            std::string::npos);
  // Copies of two and of three take turns.
  EXPECT_NE(faultOf(looped("  slots 4\n  frame f0 = p0 (x+i) in slots 0..2\n"
                           "  frame f1 = p0 (x+i) in slots 2..3 from 3\n",
                           9, "%0 = copy f1[*] = f0[*]"))
                .find("frames 1 and 0 may be in one slot (2)"),
            std::string::npos);
  EXPECT_NE(
      faultOf(looped("", 41, "%0 = copy out[p0, (x+2147483640+i)] = in[p0, (x+2147483632+i)]"))
          .find("goes on X to x+2147483648:1 where i = 8 (size 8)"),
      std::string::npos);
}

/// A small text that asks for much is refused at once, whatever it asks for.
TEST(LoopFaults, HaveLimits) {
  const auto fault = [](llvm::StringRef frames, int iterations, llvm::StringRef operations) {
    return faultOf(looped(frames, iterations, operations));
  };
  constexpr auto kCopy = "%0 = copy out[p0, (x)] = in[p0, (x)]";
  EXPECT_EQ(fault("", 131264, kCopy),
            "none");  // 131,072, 128 for each operation, and 8 for each node
  EXPECT_EQ(fault("", 131265, kCopy),
            "ring.tir:9:1: error: operation 0: the iterations up to here have more than 131264 "
            "operations");
  EXPECT_EQ(fault("", 4000, "for j in 0..3999 {\n%0 = copy out[p0, (x)] = in[p0, (x)]\n}"),
            "ring.tir:10:1: error: operation 0: the iterations up to here have more than 131264 "
            "operations");
  EXPECT_EQ(fault("", 2000,
                  "%0 = copy out[p0, (x)] = in[p0, (x)]\n} for i in 0..999 {\n"
                  "%1 = copy out[p0, (x)] = in[p0, (x)] after %0"),
            "ring.tir:11:1: error: operation 1: the iterations up to here have more than 1051136 "
            "dependences");
  std::string boxes = "p0, (x)";
  for (int i = 0; i < 63; ++i)
    boxes += ", (x)";
  EXPECT_EQ(
      fault("", 20000, ("%0 = copy out[" + llvm::Twine(boxes) + "] = in[" + boxes + "]").str()),
      "ring.tir:9:1: error: operation 0: the iterations up to here have more than 557824 "
      "pieces");
  // Segments are gone through as far as a proof does so, and all by a rank.
  const auto in_segments = [](int segments, int window, int iterations) {
    std::string text = looped("", iterations, kCopy);
    text = replaced(text, "  phase 0 {",
                    ("  for s in 0.." + llvm::Twine(segments - 1) + " window " +
                     llvm::Twine(window) + " {\n  phase 0 {")
                        .str());
    return faultOf(text + "}\n");
  };
  EXPECT_EQ(in_segments(40, 3, 32816), "none");
  EXPECT_EQ(in_segments(40, 3, 32817),
            "ring.tir:10:1: error: operation 0: the iterations up to here, of 4 segments, have "
            "more than 131264 operations");
  EXPECT_EQ(in_segments(200, 3, 32816),
            "ring.tir:10:1: error: operation 0: the iterations up to here, of 200 segments, have "
            "more than 4194304 operations");
}

TEST(LoopFaults, ProofsNameTheIteration) {
  const std::string text = replaced(replaced(kRing, "after %1 of i-2", ""), "after %2\n", "\n");
  const VerifyResult result = verify(parsed(text).view());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.faults[0].operation, 1u);
  EXPECT_EQ(llvm::StringRef(result.faults[0].message).split(':').first, "where i = 2");
  EXPECT_EQ(result.faults.size(), 1u);  // for the other iterations it goes without saying
}

/// Lists and iterations that are apart at first, and later are not.
TEST(LoopFaults, ProofsFindWhatOverlapsItself) {
  const auto fault = [](llvm::StringRef operation) {
    const VerifyResult result = verify(parsed(looped("", 4, operation)).view());
    return result.ok() ? "none" : result.faults[0].message;
  };
  constexpr auto kCounted =
      " (in this line frames and operations are counted through all iterations)";
  EXPECT_EQ(
      fault("%0 = copy out[p0, (x+2*i:2), (x+5)] = in[p0, (x+2*i:2), (x+5)]"),
      std::string("where i = 2: out[p0, (x+4:2), (x+5)]: piece 1 has blocks of one before it") +
          kCounted);
  EXPECT_EQ(
      fault("%0 = copy out[p0, (x+2*i:3)] = in[p0, (x+2*i:3)]"),
      std::string("where i = 1: touches out[p0, (x+2:3)] while %0, on which it does not depend, "
                  "may still touch out[p0, (x:3)]") +
          kCounted);
  EXPECT_EQ(
      fault("%0 = copy out[p0, (x+3*i:2)] = in[p0, (x+3*i:2)]"),
      std::string("where i = 3: touches out[p0, (x+9:2)] while %0, on which it does not depend, "
                  "may still touch out[p0, (x:2)]") +
          kCounted);
}

}  // namespace
}  // namespace torc::ir
