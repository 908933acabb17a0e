// 25,000 mutated texts through the parser, and mutated JSON through its reader: none crashes or
// hangs it. A refusal is a located, printable message. An accepted program prints and reads back as
// the same, and satisfies the other properties of a schedule (checked.h).
//
//   TORC_FUZZ_MUTANTS=1000000 TORC_FUZZ_SEED=7 bazel-bin/tests/fuzz/text_fuzz_test
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringRef.h>

#include "ir/json/json.h"
#include "ir/text/lexer.h"
#include "tests/fuzz/checked.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/sample_programs.h"

namespace torc::fuzz {
namespace {

std::vector<Bytes> texts() {
  std::vector<Bytes> texts;
  for (const ir::Program& program : samplePrograms())
    texts.push_back(toBytes(printed(program)));
  return texts;
}

std::vector<Bytes> textWords() {
  return wordsOf(
      "schedule~plan {~}~{~phase 0 {~stream 0 {~frame f0 = p0~slots 1~%0 = ~send ~recv ~"
      "recv_reduce ~reduce ~copy ~in[p0, ~out[p0, ~f0[~(x)~(*, *)~x+1~:2~ to X+1~ from X-1~"
      " after %0~ when x = 0~ when x in 1..0~*~..~// ~\n~\t~\"~4294967296~99999999999999999999~"
      "-2147483648~1e999~0.5~\xc3\xa4~ mesh~ cores~for i in 0..3 {~for j in 0..1 {~-i~+2*j~:1+i~"
      " of i-1~ of (i, last-1)~ of all~ in slots 0..1");
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

std::string nextText(Mutator& mutator) {
  Random& random = mutator.random();
  if (random.oneIn(4)) return std::string(toText(mutator.next()));
  std::string text(toText(mutator.pick()));
  for (std::uint64_t changes = 1 + random.below(2); changes > 0; --changes) {
    text = random.oneIn(5) ? changeLine(text, random) : changeToken(text, random);
  }
  return text;
}

TEST(TextFuzz, Mutants) {
  const std::uint64_t count = mutantCount(25000);
  Mutator mutator(texts(), fuzzSeed(), textWords());
  std::uint64_t tried = 0, accepted = 0, steps = 0, proved = 0;
  const auto faultOf = [&](const std::string& mutant) {
    const Outcome outcome = checkText(mutant, tried++ % 4 == 0);
    accepted += outcome.accepted;
    steps += outcome.accepted && !outcome.program->schedule.operations.empty();
    proved += outcome.proved;
    return outcome.violation;
  };
  ASSERT_EQ(firstFault(
                count, [&] { return nextText(mutator); }, faultOf),
            "");
  if (count < 10000) return;
  EXPECT_GT(accepted, count / 20);
  EXPECT_GT(steps, count / 40);
  EXPECT_GT(proved, 0u);
}

TEST(TextFuzz, JsonMutants) {
  std::vector<Bytes> documents;
  for (const ir::Program& program : samplePrograms())
    documents.push_back(toBytes(ir::writeJson(program.schedule.view())));
  const std::uint64_t count = mutantCount(25000) / 4;
  Mutator mutator(std::move(documents), fuzzSeed(), wordsOf("{~[~\"a\":~-1~1e9"));
  std::uint64_t accepted = 0;
  const auto next = [&] {
    return mutator.random().oneIn(4)
               ? std::string(toText(mutator.next()))
               : changeToken(std::string(toText(mutator.pick())), mutator.random());
  };
  const auto faultOf = [&](const std::string& mutant) {
    const Outcome outcome = checkJson(mutant, false);
    accepted += outcome.accepted;
    return outcome.violation;
  };
  ASSERT_EQ(firstFault(count, next, faultOf), "");
  if (count < 10000) return;
  EXPECT_GT(accepted, count / 20);
}

}  // namespace
}  // namespace torc::fuzz
