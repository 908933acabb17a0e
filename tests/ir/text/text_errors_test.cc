// Faults in a text: the message, the line and column, the line shown and the caret. A fault's
// place is marked in the test's own text by a ^, which is no token of the language.
#include <string>

#include <gtest/gtest.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/ADT/Twine.h>

#include "ir/text/lexer.h"
#include "ir/text/text.h"

namespace torc::ir {
namespace {

constexpr llvm::StringRef kText = R"(schedule @s {
  collective reduce_scatter
  topology torus [X=4, Y=3 mesh] order XY
  producer "p"
  promise conflict-free-phases
  color 0 weight 1/3 order XY directions 2 chunks 1
  color 1 weight 2/3 order YX directions 1 chunks 2
  stream 0 of p0 core 0
  stream 1 of p2 core 1
  slots 2
  frame f0 = p0 (x-2, *) in slot 0
  frame f1 = p2 (0:2, y) in slot 1
  phase 0 {
    stream 0 {
      %0 = send in[p0, (x-1, *)] to X+1
      %1 = recv f0[(x-2, *)] from X-1 after %0
    }
    stream 1 {
      %2 = recv f1[(0:2, y)] from X-1 Y+1 when x in 3..1, y = 0
    }
  }
}
)";
constexpr llvm::StringRef kPlan = R"(schedule @s {
  collective allreduce
  topology torus [X=4] order X
  color 0 weight 1/1 order X directions 2 chunks 1
  plan {
    ring_reduce_scatter color 0 on X
    phase_barrier
  }
}
)";

std::string textErrorOf(llvm::StringRef text) {
  llvm::Expected<Program> program = parseProgram(text, "t.tir");
  if (!program) return llvm::toString(program.takeError());
  return "no error";
}

/// Puts `faulty` in the place of `line` in `text`; the ^ in it is where the fault must be found.
void expectError(llvm::StringRef text, llvm::StringRef line, llvm::StringRef faulty,
                 llvm::StringRef message) {
  const std::size_t position = text.find(line);
  ASSERT_NE(position, llvm::StringRef::npos) << line.str();
  ASSERT_EQ(text.find(line, position + 1), llvm::StringRef::npos) << line.str();
  const auto [before_mark, after_mark] = faulty.split('^');
  const std::string before = (text.take_front(position) + before_mark).str();
  const std::string after = (after_mark + text.substr(position + line.size())).str();
  const std::size_t line_start = before.rfind('\n') + 1;
  const std::size_t column = before.size() - line_start + 1;
  const std::string shown = before.substr(line_start) + after.substr(0, after.find('\n'));
  const std::string expected =
      ("t.tir:" + llvm::Twine(llvm::StringRef(before).count('\n') + 1) + ":" + llvm::Twine(column) +
       ": error: " + message + "\n" + shown + "\n" + std::string(column - 1, ' ') + "^")
          .str();
  EXPECT_EQ(textErrorOf(before + after), expected);
}

/// In the place of one line each of these, and its message.
void expectErrors(llvm::StringRef text, llvm::StringRef line,
                  std::initializer_list<std::pair<llvm::StringRef, llvm::StringRef>> faults) {
  for (const auto& [faulty, message] : faults)
    expectError(text, line, faulty, message);
}

TEST(TextErrors, TextsAreRight) {
  EXPECT_EQ(textErrorOf(kText), "no error");
  EXPECT_EQ(textErrorOf(kPlan), "no error");
}

TEST(TextErrors, Header) {
  expectErrors(kText, "schedule @s {",
               {{"^program @s {", "expected 'schedule', found 'program'"},
                {"schedule ^s {", "expected a name (@allreduce), found 's'"},
                {"schedule ^@ s {", "expected a name after '@'"},
                {"schedule @s ^collective", "expected '{' after the name, found 'collective'"}});
  expectErrors(kText, "collective reduce_scatter",
               {{"collective ^sort", "expected a collective, found 'sort' (docs/developers/ir.md)"},
                {"collective ^redcue_scatter",
                 "expected a collective, found 'redcue_scatter'; did you mean 'reduce_scatter'?"}});
  expectErrors(kText, "producer \"p\"",
               {{"producer ^p", "expected a string in quotes, found 'p'"},
                {"producer ^\"p", "the string does not end on its line"},
                {"producer \"p^\\n\"", "unknown escape; there are \\\", \\\\ and \\xHH"},
                {"^producer \"p\\x00\"", "producer: may have printable ASCII characters only"}});
  expectErrors(kText, "promise conflict-free-phases",
               {{"promise ^conflict-free-links",
                 "unknown promise (there is conflict-free-phases or ordered-sums)"}});
}

TEST(TextErrors, Graph) {
  expectErrors(
      kText, "topology torus [X=4, Y=3 mesh] order XY",
      {{"topology graph [X=4, Y=3] order XY\n ^producer", "expected 'links', found 'producer'"},
       {"topology graph [X=4, Y=3] order XY links [^]", "expected a node, found ']'"},
       {"topology graph [X=4, Y=3] order XY links [0 ^1]", "expected '->', found '1'"},
       {"topology graph [X=4, Y=3] order XY links [0->1 bandwidth 1 ^]",
        "expected 'latency', found ']'"},
       {"topology graph [X=4, Y=3] order XY links [0->1 bandwidth 1 latency 0, ^1->14 bandwidth 1 "
        "latency 0]",
        "link 1: node 14 does not exist (up to 13 may)"},
       {"topology graph [X=4, Y=3] order XY links [^1->1 bandwidth 1 latency 0]",
        "link 0: ends where it begins"},
       {"topology graph [X=4, Y=3] order XY links [^1->0 bandwidth 0 latency 0]",
        "link 0: bandwidth 0 must be over 0"},
       {"topology graph [X=4, Y=3] order XY links [1->0 bandwidth 1 latency 0, ^0->1 bandwidth 1 "
        "latency 0]",
        "link 1: 0->1 is behind 1->0, must ascend"},
       {"^topology graph [X=4, Y=3 mesh] order XY links [1->0 bandwidth 1 latency 0]",
        "topology: a graph's axis Y says more than where ranks are, which links say"}});
}

TEST(TextErrors, Topology) {
  expectErrors(
      kText, "topology torus [X=4, Y=3 mesh] order XY",
      {{"topology ^[X=4, Y=3] order XY", "expected 'torus' or 'graph', found '['"},
       {"topology torus [^x=4, Y=3] order XY", "expected the name of an axis (A to Z), found 'x'"},
       {"topology torus [X^, Y=3] order XY", "expected '=' after the axis, found ','"},
       {"topology torus [X=^0, Y=3] order XY", "0 is too small for a size (smallest 1)"},
       {"topology torus [X=^2147483648, Y=3] order XY",
        "2147483648 is too large for a size (largest 2147483647)"},
       {"topology torus [X=^99999999999999999999, Y=3] order XY",
        "99999999999999999999 is too large for a size (largest 2147483647)"},
       {"topology torus [X=4^x, Y=3] order XY", "a number may not be followed by 'x'"},
       {"topology torus [X=^4.5, Y=3] order XY", "expected a size, found '4.5'"},
       {"topology torus [X=4, ^Y=3 bandwidth 0] order XY",
        "topology: axis 1: bandwidth must be a positive number"},
       {"topology torus [X=4, Y=3 bandwidth ^1e999] order XY",
        "1e999 is outside the range of a double"},
       {"topology torus [X=4, Y=3 latency ^-1] order XY", "expected a latency, found '-'"},
       {"topology torus [X=4, Y=3 ^wide] order XY", "expected ']' after the axes, found 'wide'"},
       {"topology torus [X=4, Y=3] order X^Q", "unknown axis 'Q' (axes are X, Y)"},
       {"topology torus [X=4, Y=3] order X^X", "axis X occurs twice"},
       {"topology torus [X=4, Y=3] order ^X", "the order names 1 of 2 axes"},
       {"topology torus [X=4, ^X=3] order X", "axis X is given twice"},
       {"topology torus [A=1, B=1, C=1, D=1, E=1, F=1, G=1, T=1 cores, ^H=1] order XY",
        "more than 7 dimensions and the cores"},
       {"^topology torus [X=65536, Y=65536] order XY", "topology: more than 2147483647 ranks"}});
}

TEST(TextErrors, Colors) {
  expectErrors(
      kText, "color 1 weight 2/3 order YX directions 1 chunks 2",
      {{"color ^2 weight 2/3 order YX", "expected 1 (colors are numbered in order), found '2'"},
       {"color 1 weight ^0/3 order YX", "0 is too small for a weight (smallest 1)"},
       {"color 1 weight 2 ^order YX", "expected '/' and the sum of all weights, found 'order'"},
       {"color 1 weight 2/^4 order YX", "the colors before have 3 as the sum of all weights"},
       {"color 1 weight ^3/3 order YX", "the weights add up to more than 3"},
       {"color 1 weight ^1/3 order YX", "the weights add up to 2, not 3"},
       {"color 1 weight ^9223372036854775808/3 order YX",
        "9223372036854775808 is too large for a weight (largest 9223372036854775807)"},
       {"color 1 weight 2/3 order ^Y", "the order names 1 of 2 axes"},
       {"color 1 weight 2/3 order YX directions ^3 chunks 2",
        "3 is too large for the number of directions (largest 2)"},
       {"color 1 weight 2/3 order YX directions 2 ^chunks 1048576", "more than 1048576 parts"}});
}

TEST(TextErrors, StreamsAndFrames) {
  expectErrors(kText, "stream 1 of p2 core 1",
               {{"stream ^0 of p2 core 1", "expected 1 (streams are numbered in order), found '0'"},
                {"stream 1 ^p2", "expected 'of' and the stream's part, found 'p2'"},
                {"stream 1 of ^p4 core 1", "part p4 does not exist (schedule has 4)"},
                {"stream 1 of ^2", "expected a part (p0, p1, ...), found '2'"},
                {"stream 1 of p2 core ^4294967296",
                 "4294967296 is too large for a core (largest 4294967295)"}});
  expectErrors(kText, "slots 2",
               {{"slots ^x", "expected the number of slots, found 'x'"},
                {"^slots 3", "has 3 slots for 2 frames"}});
  expectErrors(kText, "frame f1 = p2 (0:2, y) in slot 1",
               {{"frame ^f2 = p2 (0:2, y) in slot 1",
                 "expected f1 (frames are numbered in order), found 'f2'"},
                {"frame f1 = p2 (0:2, y) in slot ^2", "slot 2 does not exist (schedule has 2)"},
                {"frame f1 = p2 ^[0:2, y] in slot 1", "expected '(' and a box, found '['"}});
}

TEST(TextErrors, Boxes) {
  expectErrors(
      kText, "in[p0, (x-1, *)]",
      {{"in[p0, (^y-1, *)]", "expected an interval on X (*, a number or x), found 'y'"},
       {"in[p0, (x-1, ^%)]", "expected the number of an operation after '%'"},
       {"in[p0, (^x1, *)]", "expected an interval on X (*, a number or x), found 'x1'"},
       {"in[p0, (x-^y, *)]", "expected an offset, found 'y'"},
       {"in[p0, (x-^2147483649, *)]", "2147483649 is too large for an offset (largest 2147483648)"},
       {"in[p0, (x+^2147483648, *)]", "2147483648 is too large for an offset (largest 2147483647)"},
       {"in[p0, (^4, *)]", "4 is too large for a coordinate on X (largest 3)"},
       {"in[p0, (x:^5, *)]", "5 is too large for a length (largest 4)"},
       {"in[p0, (x:^0, *)]", "0 is too small for a length (smallest 1)"},
       {"in[p0, (x^)]", "expected ',' and the interval on Y, found ')'"},
       {"in[p0, (x, *^, *)]", "the topology has 2 axes, the box has more"},
       {"in[p0, (x, *^]", "expected ')' after the box, found ']'"},
       {"in[p0, (x, *) ^;", "unexpected ';'"},
       {"in[^(x, *)]", "expected a part (p0, p1, ...), found '('"},
       {"in[p0 ^(x, *)]", "expected ',' after the part, found '('"},
       {"in^(x, *)", "expected '[' after the buffer, found '('"},
       {"^inn[p0, (x, *)]", "expected a region (in[...], out[...], f0[...]), found 'inn'"},
       {"^f2[(x, *)]", "frame f2 does not exist (schedule has 2)"},
       {"^f99999999999999999999[(x, *)]",
        "frame f99999999999999999999 does not exist (schedule has 2)"}});
}

TEST(TextErrors, Operations) {
  expectErrors(
      kText, "%0 = send in[p0, (x-1, *)] to X+1",
      {{"^%1 = send in[p0, (x-1, *)] to X+1",
        "expected %0 (operations are numbered in order), found '%1'"},
       {"%0 = ^put in[p0, (x-1, *)] to X+1",
        "expected an operation, found 'put' (docs/developers/ir.md)"},
       {"%0 = ^sned in[p0, (x-1, *)] to X+1",
        "expected an operation, found 'sned'; did you mean 'send'?"},
       {"%0 ^send in[p0, (x-1, *)] to X+1",
        "expected '=' after the operation's number, found 'send'"},
       {"%0 = send in[p0, (x-1, *)] ^from X+1", "expected 'to' and the peer, found 'from'"},
       {"%0 = send in[p0, (x-1, *)] to ^Q+1", "unknown axis 'Q' (axes are X, Y)"},
       {"%0 = send in[p0, (x-1, *)] to X+1 ^X+1", "X is given twice"},
       {"%0 = send in[p0, (x-1, *)] to X^=1", "expected '+' or '-', found '='"},
       {"%0 = send in[p0, (x-1, *)] to X+1 after ^%0", "%0 is not defined above"},
       {"%0 = send in[p0, (x-1, *)] to X+1 after ^0",
        "expected an operation (%0, %1, ...), found '0'"}});
  expectErrors(kText, "%2 = recv f1[(0:2, y)] from X-1 Y+1 when x in 3..1, y = 0",
               {{"%2 = recv f1[(0:2, y)] from X-1 after %1, ^%12", "%12 is not defined above"},
                {"%2 = recv_reduce f1[(0:2, y)] ^from X-1",
                 "expected '=' after the region written, found 'from'"},
                {"%2 = reduce f1[(0:2, y)] = in[p2, (x, y)] ^to X-1",
                 "expected '+' and a second region, found 'to'"},
                {"%2 = recv f1[(0:2, y)] from X-1 when ^q = 1",
                 "unknown coordinate 'q' (coordinates are x, y)"},
                {"%2 = recv f1[(0:2, y)] from X-1 when ^= 1",
                 "expected a condition (x = 0, x in 1..6), found '='"},
                {"%2 = recv f1[(0:2, y)] from X-1 when x ^+ 1", "expected '=' or 'in', found '+'"},
                {"%2 = recv f1[(0:2, y)] from X-1 when x in 1^:3",
                 "expected '..' and the last coordinate, found ':'"},
                {"%2 = recv f1[(0:2, y)] from X-1 when x in 1..^4",
                 "4 is too large for a coordinate on X (largest 3)"},
                {"%2 = recv f1[(0:2, y)] from X-1 when x = 1, y = 0, ^x = 1", "x is given twice"}});
}

TEST(TextErrors, Blocks) {
  expectErrors(kText, "phase 0 {",
               {{"phase ^65536 {", "65536 is too large for the number of a phase (largest 65535)"},
                {"phase 0 ^stream", "expected '{' after the phase, found 'stream'"},
                {"phase 0 { ^%0 =", "expected 'stream', 'for' or '}', found '%0'"}});
  expectErrors(kText, "stream 1 {",
               {{"stream ^2 {", "stream 2 does not exist (schedule has 2)"},
                {"stream 1 { ^send", "expected an operation, 'for' or '}', found 'send'"},
                {"stream 1 { ^&", "unexpected '&'"},
                {"stream 1 { ^plan", "expected an operation, 'for' or '}', found 'plan'"}});
}

TEST(TextErrors, Plan) {
  expectErrors(
      kPlan, "phase_barrier",
      {{"^barrier", "expected a plan operation or '}', found 'barrier' (docs/developers/ir.md)"},
       {"^phase_barier",
        "expected a plan operation or '}', found 'phase_barier'; did you mean 'phase_barrier'?"}});
  expectErrors(kPlan, "ring_reduce_scatter color 0 on X",
               {{"ring_allgather ^on X", "expected 'color' of the operation, found 'on'"},
                {"ring_allgather color ^1 on X", "color 1 does not exist (schedule has 1)"},
                {"ring_allgather color 0 on ^Y", "unknown axis 'Y' (axes are X)"},
                {"exchange color 0 on ^{", "expected the axes (XYZ), found '{'"},
                {"exchange color 0 on X^Y", "unknown axis 'Y' (axes are X)"},
                {"exchange color 0 on X^X", "axis X occurs twice"},
                {"ring_scatter color 0 on ^XX", "unknown axis 'XX' (axes are X)"},
                {"exchange color 0 on X ^half-latency",
                 "expected a plan operation or '}', found 'half' (docs/developers/ir.md)"},
                {"exchange color 0 on X stride ^Y", "expected a stride, found 'Y'"},
                {"exchange color 0 on X stride 2 on ^Y", "unknown axis 'Y' (axes are X)"},
                {"exchange color 0 on X stride ^3 on X",
                 "stride 3 does not cut X=4 into equal parts of more than one node"}});
  expectErrors(
      kPlan, "phase_barrier\n  }\n",
      {{"phase_barrier\n  }\n  ^stream 0 of p0\n", "a schedule has a plan or steps, not both"}});
}

TEST(TextErrors, Bytes) {
  EXPECT_EQ(textErrorOf("schedule \x01"),
            "t.tir:1:10: error: unexpected byte 0x01\nschedule ?\n         ^");
  EXPECT_EQ(textErrorOf(llvm::StringRef("a\0b", 3)),
            "t.tir:1:1: error: expected 'schedule', found 'a'\na?b\n^");
}

// What only validation sees is placed at the record that it names.
TEST(TextErrors, StructureIsPlaced) {
  expectErrors(kText, "%2 = recv f1[(0:2, y)] from X-1 Y+1 when x in 3..1, y = 0",
               {{"^%2 = recv f1[(0:2, y)] from X-1 Y+1",
                 "operation 2: peer: Y=3 is outside the mesh (size 3)"}});
  expectErrors(
      kText, "%0 = send in[p0, (x-1, *)] to X+1",
      {{"^%0 = send in[p2, (x-1, *)] to X+1",
        "operation 0: a: part 2 is not that of stream 0 (part 0)"},
       {"%0 = send in[p0, (x-1, *)] to ^X+4", "shift 0: 4 on X goes all the way round (size 4)"},
       {"%0 = send in[p0, (x-1, *)] to ^X+0", "shift 0: leads to the node itself"}});
  expectErrors(
      kText, "frame f1 = p2 (0:2, y) in slot 1",
      {{"frame f1 = p2 ^(x, 1:3) in slot 1", "box 1: on Y: 1:3 leaves the mesh (size 3)"}});
}

TEST(TextErrors, EndOfText) {
  EXPECT_EQ(textErrorOf(""),
            "t.tir:1:1: error: expected 'schedule', found the end of the text\n\n^");
  EXPECT_EQ(textErrorOf("// nothing\n"),
            "t.tir:1:1: error: expected 'schedule', found the end of the text\n// nothing\n^");
  EXPECT_EQ(textErrorOf("schedule @s {\n  collective\n\n"),
            "t.tir:2:13: error: expected a collective, found the end of the text\n  collective\n"
            "            ^");
  const std::string twice = (kText + "schedule").str();
  EXPECT_EQ(textErrorOf(twice),
            "t.tir:23:1: error: expected the end of the text, found 'schedule'\nschedule\n^");
}

TEST(TextErrors, LocatedLine) {
  // Tabs reach the next multiple of 8; the column counts bytes.
  EXPECT_EQ(located("a\n\tb\tc", "f", 5, "m"),
            "f:2:4: error: m\n        b       c\n                ^");
  // Carriage returns and other control characters are not sent to a terminal.
  EXPECT_EQ(located("ab\x1b[1mc\r\n", "f", 1, "m"), "f:1:2: error: m\nab?[1mc\n ^");
  EXPECT_EQ(located("\x80\xe2\x82x", "f", 3, "m"), "f:1:4: error: m\n???x\n   ^");
  // Characters of several bytes take one place.
  EXPECT_EQ(located("// \xc3\xa4\xc3\xb6 x", "f", 8, "m"),
            "f:1:9: error: m\n// \xc3\xa4\xc3\xb6 x\n      ^");
  // Behind the end.
  EXPECT_EQ(located("abc", "f", 99, "m"), "f:1:4: error: m\nabc\n   ^");
}

TEST(TextErrors, LongLinesAreCut) {
  const std::string line = std::string(500, 'a') + "!" + std::string(500, 'b');
  EXPECT_EQ(located("\n" + line + "\n", "f", 501, "m"),
            "f:2:501: error: m\n..." + std::string(60, 'a') + "!" + std::string(39, 'b') + "...\n" +
                std::string(63, ' ') + "^");
  EXPECT_EQ(located(line, "f", 0, "m"), "f:1:1: error: m\n" + std::string(100, 'a') + "...\n^");
  EXPECT_EQ(located(line, "f", line.size(), "m"),
            "f:1:1002: error: m\n..." + std::string(60, 'b') + "\n" + std::string(63, ' ') + "^");
}

}  // namespace
}  // namespace torc::ir
