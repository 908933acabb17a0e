// 100,000 mutated texts through the parser, and mutated JSON through its reader: none crashes or
// hangs it. A refusal is a located message that a terminal can show. What is accepted prints and
// reads back as the same, and the rest of what must hold for a schedule (checked_file.h) holds.
//
//   TORC_FUZZ_MUTANTS=1000000 TORC_FUZZ_SEED=7 bazel-bin/tests/fuzz/text_fuzz_test
#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/raw_ostream.h>

#include "ir/json/json.h"
#include "ir/text/lexer.h"
#include "ir/text/text.h"
#include "schedules/format/file.h"
#include "schedules/validate.h"
#include "tests/fuzz/checked_file.h"
#include "tests/fuzz/mutate.h"
#include "tests/ir/random_schedule.h"
#include "tests/schedules/sample_schedule.h"

namespace torc::fuzz {
namespace {

std::string print(const ir::Program& program) {
  std::string text;
  llvm::raw_string_ostream out(text);
  ir::printProgram(program, out);
  return text;
}

std::vector<ir::Program> programs() {
  std::vector<ir::Program> programs;
  for (Schedule& schedule : samples::all())
    programs.push_back({std::move(schedule), {}});
  Random random(1);
  const ir::Draw draw = [&](std::int64_t lowest, std::int64_t highest) {
    return lowest + static_cast<std::int64_t>(
                        random.below(static_cast<std::uint64_t>(highest - lowest + 1)));
  };
  for (int i = 0; i < 40; ++i)
    programs.push_back(ir::randomProgram(draw));
  return programs;
}

std::vector<Bytes> texts() {
  std::vector<Bytes> texts;
  for (const ir::Program& program : programs())
    texts.push_back(toBytes(print(program)));
  return texts;
}

std::vector<Bytes> words() {
  std::vector<Bytes> words;
  for (const char* word : {"schedule",
                           "plan {",
                           "}",
                           "{",
                           "phase 0 {",
                           "stream 0 {",
                           "frame f0 = p0",
                           "slots 1",
                           "%0 = ",
                           "send ",
                           "recv ",
                           "recv_reduce ",
                           "reduce ",
                           "copy ",
                           "in[p0, ",
                           "out[p0, ",
                           "f0[",
                           "(x)",
                           "(*, *)",
                           "x+1",
                           ":2",
                           " to X+1",
                           " from X-1",
                           " after %0",
                           " when x = 0",
                           " when x in 1..0",
                           "*",
                           "..",
                           "// ",
                           "\n",
                           "\t",
                           "\"",
                           "4294967296",
                           "99999999999999999999",
                           "-2147483648",
                           "1e999",
                           "0.5",
                           "\xc3\xa4",
                           " mesh",
                           " cores"}) {
    words.push_back(toBytes(word));
  }
  return words;
}

/// One change to a text token by token: mutants that get past the parser's first questions.
std::string changeToken(const std::string& text, Random& random) {
  std::vector<ir::Token> tokens;
  ir::Lexer lexer(text);
  for (ir::Token token = lexer.next(); token.kind != ir::TokenKind::kEnd; token = lexer.next()) {
    tokens.push_back(token);
  }
  if (tokens.empty()) return text;
  const ir::Token& token = tokens[random.below(tokens.size())];
  const std::string before = text.substr(0, token.offset), after = text.substr(token.end());
  std::string middle;
  switch (random.below(8)) {
    case 0:  // gone
      break;
    case 1:  // twice
      middle = (token.text + " " + token.text).str();
      break;
    case 2:  // any other
      middle = tokens[random.below(tokens.size())].text.str();
      break;
    case 3:  // a number
      middle =
          std::to_string(random.oneIn(4) ? random.next() >> random.below(64) : random.below(9));
      break;
    default: {  // another one of its kind
      std::vector<llvm::StringRef> same;
      for (const ir::Token& other : tokens) {
        if (other.kind == token.kind && other.text[0] == token.text[0]) same.push_back(other.text);
      }
      middle = same[random.below(same.size())].str();
      if (middle == "+" && random.oneIn(2)) middle = "-";
    }
  }
  return before + middle + after;
}

/// Takes a line out, doubles it or exchanges it with another one.
std::string changeLine(const std::string& text, Random& random) {
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(text).split(lines, '\n');
  llvm::StringRef& line = lines[random.below(lines.size())];
  llvm::StringRef& other = lines[random.below(lines.size())];
  switch (random.below(3)) {
    case 0:
      std::swap(line, other);
      break;
    case 1:
      line = other;
      break;
    default:
      lines.erase(&line);
  }
  return llvm::join(lines, "\n");
}

std::string nextMutant(Mutator& mutator) {
  Random& random = mutator.random();
  if (random.oneIn(4)) return std::string(toText(mutator.next()));
  std::string text(toText(mutator.pick()));
  for (std::uint64_t changes = 1 + random.below(2); changes > 0; --changes) {
    text = random.oneIn(5) ? changeLine(text, random) : changeToken(text, random);
  }
  return text;
}

/// What is wrong with a refusal; empty if nothing.
std::string refusalFault(llvm::StringRef refusal, llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> lines;
  refusal.split(lines, '\n');
  if (lines.size() != 3) return "not three lines";
  std::size_t line = 0, column = 0;
  llvm::StringRef head = lines[0];
  if (!head.consume_front("t.tir:") || head.consumeInteger(10, line) || !head.consume_front(":") ||
      head.consumeInteger(10, column) || !head.starts_with(": error: ")) {
    return "no place";
  }
  if (line < 1 || line > text.count('\n') + 1 || column < 1) return "no such place";
  if (!llvm::all_of(head, llvm::isPrint) || head.size() > 300) return "not fit to be shown";
  if (lines[2].ltrim(' ') != "^" || lines[2].size() > 1000) return "no caret";
  return "";
}

struct Counts {
  std::uint64_t accepted = 0, steps = 0, proved = 0;
};

/// What is wrong with how the parser treats `text`; empty if nothing.
std::string parserFault(const std::string& text, bool thorough, Counts& counts) {
  llvm::Expected<ir::Program> program = ir::parseProgram(text, "t.tir");
  if (!program) {
    const std::string refusal = llvm::toString(program.takeError());
    const std::string fault = refusalFault(refusal, text);
    return fault.empty() ? fault : fault + ": " + refusal;
  }
  ++counts.accepted;
  const ScheduleView schedule = program->schedule.view();
  if (const Status status = validate(schedule); !status.ok()) return status.message();
  const std::string printed = print(*program);
  llvm::Expected<ir::Program> again = ir::parseProgram(printed, "again.tir");
  if (!again) return llvm::toString(again.takeError());
  if (!(again->schedule.view() == schedule)) return "another schedule reads back";
  if (again->plan != program->plan) return "another plan reads back";
  if (print(*again) != printed) return "prints otherwise when read back";
  if (schedule.operations.empty()) return "";
  ++counts.steps;
  if (!thorough) return "";
  const FileOutcome outcome = checkFile(writeSchedule(schedule));
  counts.proved += outcome.proved;
  return outcome.violation.empty() ? outcome.refusal : outcome.violation;
}

TEST(TextFuzz, Mutants) {
  const std::uint64_t count = mutantCount(100000);
  Mutator mutator(texts(), fuzzSeed(), words());
  Counts counts;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string mutant = nextMutant(mutator);
    ASSERT_EQ(parserFault(mutant, i % 4 == 0, counts), "")
        << "mutant " << i << " of seed " << fuzzSeed() << ":\n"
        << mutant;
  }
  std::printf("%llu mutants: %llu accepted by the parser, %llu of them with steps; %llu proved\n",
              static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(counts.accepted),
              static_cast<unsigned long long>(counts.steps),
              static_cast<unsigned long long>(counts.proved));
  if (count < 10000) return;
  EXPECT_GT(counts.accepted, count / 20);
  EXPECT_GT(counts.steps, count / 40);
  EXPECT_GT(counts.proved, 0u);
}

TEST(TextFuzz, JsonMutants) {
  std::vector<Bytes> documents;
  for (const ir::Program& program : programs()) {
    documents.push_back(toBytes(ir::writeJson(program.schedule.view())));
  }
  const std::uint64_t count = mutantCount(100000) / 4;
  Mutator mutator(std::move(documents), fuzzSeed(),
                  {toBytes("{"), toBytes("["), toBytes("\"a\":"), toBytes("-1"), toBytes("1e9")});
  std::uint64_t accepted = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::string mutant(toText(mutator.pick()));
    if (mutator.random().oneIn(4)) {
      mutant = toText(mutator.next());
    } else {
      mutant = changeToken(mutant, mutator.random());
    }
    llvm::Expected<Schedule> schedule = ir::readJson(mutant, "t.json");
    if (!schedule) {
      const std::string refusal = llvm::toString(schedule.takeError());
      ASSERT_TRUE(llvm::StringRef(refusal).starts_with("t.json:")) << refusal;
      ASSERT_TRUE(llvm::all_of(
          llvm::StringRef(refusal).take_until([](char c) { return c == '\n'; }), llvm::isPrint))
          << refusal;
      continue;
    }
    ++accepted;
    const std::string written = ir::writeJson(schedule->view());
    llvm::Expected<Schedule> again = ir::readJson(written, "again.json");
    ASSERT_TRUE(bool(again)) << llvm::toString(again.takeError());
    ASSERT_EQ(again->view(), schedule->view()) << written;
  }
  std::printf("%llu JSON mutants: %llu accepted\n", static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(accepted));
  if (count < 10000) return;
  EXPECT_GT(accepted, count / 20);
}

}  // namespace
}  // namespace torc::fuzz
