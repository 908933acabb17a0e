// Command lines: accepted and refused ones, with the line for each, and completions.
#include "support/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace torc::options {
namespace {

/// A command with an option of each kind.
struct Sample {
  Command command{"make", "make a sample"};
  Text file{command, {kWhat, "FILE", "FILE", "A file"}};
  List more{command, {kWhat, "MORE...", "MORE", "More of them"}};
  Flag quiet{command, {kOutput, "quiet", "", "Print nothing"}};
  Text output{command, {kOutput, "output,o", "FILE", "The output", "-"}};
  List shapes{command, {kMachine, "shapes", "LIST", "Shapes"}, ','};
  Integer count{command, {kMachine, "count", "N", "A count", "3"}, 1, 4096};
  With with{command};
  Word form{command, {kExperts, "form", "long|short", "The form", "long"}};

  /// Empty, or the error.
  std::string parse(std::vector<const char*> words) {
    return std::string(command.parse(words, "sample make").message());
  }
};

TEST(Options, AreSet) {
  Sample none;
  EXPECT_EQ(none.parse({}), "");
  EXPECT_EQ(none.output, "-");
  EXPECT_EQ(none.count, 3u);
  EXPECT_EQ(none.form, "long");
  EXPECT_FALSE(none.count.isGiven() || none.quiet || none.quiet.isGiven());
  Sample all;
  EXPECT_EQ(all.parse({"a", "--quiet", "-o", "out", "--count=1K", "b", "--shapes", "4,5",
                       "--shapes=6", "--form", "short", "--", "--c"}),
            "");
  EXPECT_EQ(all.file, "a");
  EXPECT_THAT(all.more, testing::ElementsAre("b", "--c"));
  EXPECT_TRUE(all.quiet);
  EXPECT_EQ(all.output, "out");
  EXPECT_THAT(all.shapes, testing::ElementsAre("4", "5", "6"));
  EXPECT_EQ(all.count, 1024u);
  EXPECT_EQ(all.form.index(), 1u);
  Sample other;
  EXPECT_EQ(other.parse({"-", "-quiet=0", "-output=x", "--with", "form=short", "--count", "4096"}),
            "");
  EXPECT_EQ(other.file, "-");
  EXPECT_FALSE(other.quiet);
  EXPECT_EQ(other.form, "short");
}

TEST(Options, LeaveTheRestToAnotherProgram) {
  Command command("run", "run a program");
  Rest rest(command, {kWhat, "PROGRAM...", "PROGRAM", "The program"});
  Flag quiet(command, {kOutput, "quiet", "", "Print nothing"});
  Text shape(command, {kMachine, "shape", "SHAPE", "A shape"});
  const std::vector<const char*> words = {"--shape", "4x2", "--quiet", "mpiexec",
                                          "-n",      "8",   "--",      "--help"};
  EXPECT_EQ(command.ownWords(words).size(), 3u);
  EXPECT_TRUE(command.parse(words, "sample run").ok());
  EXPECT_EQ(shape, "4x2");
  EXPECT_TRUE(quiet);
  EXPECT_THAT(rest, testing::ElementsAre("mpiexec", "-n", "8", "--", "--help"));
  EXPECT_FALSE(command.parse(std::vector<const char*>{"--frob", "mpiexec"}, "sample run").ok());
}

TEST(Options, AreRefused) {
  const std::pair<std::vector<const char*>, const char*> kCases[] = {
      {{"--cuont", "4"}, "unknown option '--cuont'; did you mean '--count'?"},
      {{"--frobnicate"}, "unknown option '--frobnicate'; sample make --help has them"},
      {{"--hlep"}, "unknown option '--hlep'; did you mean '--help'?"},
      {{"--count"}, "--count: a value is missing, N"},
      {{"--output", "--quiet"}, "--output: a value is missing, FILE"},
      {{"-o", "a", "--output", "b"}, "--output is given twice"},
      {{"--count=0"}, "--count takes an integer from 1 to 4096, not '0'"},
      {{"--count=4097"}, "--count takes an integer from 1 to 4096, not '4097'"},
      {{"--count=5K"}, "--count takes an integer from 1 to 4096, not '5K'"},
      {{"--count="}, "--count takes an integer from 1 to 4096, not ''"},
      {{"--quiet=2"}, "--quiet takes 0 or 1, not '2'"},
      {{"--form=any"}, "--form takes long|short, not 'any'"},
      {{"--with=form=any"}, "--with: --form takes long|short, not 'any'"},
      {{"--with=count=2"}, "--with takes KEY=VALUE,... with keys that --help lists, not 'count=2'"},
      {{"--with=form"}, "--with takes KEY=VALUE,... with keys that --help lists, not 'form'"},
      {{"--form=long", "--with=form=short"}, "--with: --form is given twice"},
  };
  for (const auto& [words, error] : kCases)
    EXPECT_EQ(Sample().parse(words), error);
  struct {
    Command command{"one", "take one"};
    Text file{command, {kWhat, "FILE", "FILE", "A file"}};
  } one;
  const char* const words[] = {"a", "b"};
  EXPECT_EQ(one.command.parse(words, "sample one").message(), "too many arguments: 'b'");
}

TEST(Options, CompleteWords) {
  const auto completions = [](std::string_view before, std::string_view begin) {
    std::vector<std::string> words;
    for (const auto& [word, help] : Sample().command.completions(before, begin))
      words.push_back(word);
    return words;
  };
  using testing::ElementsAre;
  EXPECT_THAT(completions("make", "-"),
              ElementsAre("--quiet", "--output=", "--shapes=", "--count=", "--with=", "--form="));
  EXPECT_THAT(completions("--form", ""), ElementsAre("long", "short"));
  EXPECT_THAT(completions("make", "--form=s"), ElementsAre("--form=long", "--form=short"));
  EXPECT_THAT(completions("--quiet", "a"), ElementsAre());
}

}  // namespace
}  // namespace torc::options
