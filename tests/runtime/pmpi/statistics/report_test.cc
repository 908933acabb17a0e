// Lines on stderr.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "runtime/pmpi/statistics/stderr_lines.h"

namespace torc::runtime::pmpi {
namespace {

template <typename Function>
std::string printed(Function function) {
  testing::internal::CaptureStderr();
  function();
  return testing::internal::GetCapturedStderr();
}

// Tests run in this order: the report belongs to the process.
TEST(ReportTest, BeforeTheRankIsKnown) {
  EXPECT_EQ(printed([] { warnOnce("early", "no library"); }), "torc: warning: no library\n");
  EXPECT_TRUE(tells(Verbosity::kHints));
  EXPECT_FALSE(tells(Verbosity::kSetUp));
}

TEST(ReportTest, AWarningIsToldOncePerKey) {
  configureReport(Verbosity::kWarnings, 3);
  EXPECT_EQ(printed([] {
              warnOnce("a", "first");
              warnOnce("a", "first again");
              warnOnce("b", "second");
            }),
            "torc: warning: rank 3: first\ntorc: warning: rank 3: second\n");
}

TEST(ReportTest, WhatAllRanksKnowIsToldByRank0) {
  EXPECT_EQ(printed([] {
              warnOnce(1, "c", "of rank 1");
              warnOnce(0, "c", "of rank 0");
              warnOnce(0, "c", "again");
            }),
            "torc: warning: of rank 0\n");
}

TEST(ReportTest, VerbositySaysWhatIsTold) {
  const auto all = [] {
    say(Verbosity::kHints, 0, "a");
    say(Verbosity::kSetUp, 0, "b");
    say(Verbosity::kCommunicators, 0, "c");
    say(Verbosity::kCommunicators, 1, "of rank 1");
  };
  configureReport(Verbosity::kWarnings, 0);
  EXPECT_EQ(printed(all), "");
  configureReport(Verbosity::kHints, 0);
  EXPECT_EQ(printed(all), "torc: hint: a\n");
  configureReport(Verbosity::kSetUp, 0);
  EXPECT_EQ(printed(all), "torc: hint: a\ntorc: b\n");
  configureReport(Verbosity::kCommunicators, 0);
  EXPECT_EQ(printed(all), "torc: hint: a\ntorc: b\ntorc: c\n");
}

TEST(ReportTest, ErrorsAreAlwaysTold) {
  configureReport(Verbosity::kWarnings, 5);
  EXPECT_EQ(printed([] {
              complain("stop");
              complain("stop");
            }),
            "torc: error: rank 5: stop\ntorc: error: rank 5: stop\n");
}

TEST(ReportTest, WhatWasAskedForIsToldWithItsRank) {
  configureReport(Verbosity::kWarnings, 2);
  EXPECT_EQ(printed([] { say("of this rank"); }), "torc: rank 2: of this rank\n");
}

TEST(ReportTest, WarningsEndAfterAThousand) {
  const std::string lines = printed([] {
    for (int i = 0; i < 2 * kMostWarnings; ++i)
      warnOnce("key " + std::to_string(i), "text");
  });
  const auto count = std::ranges::count(lines, '\n');
  EXPECT_GT(count, kMostWarnings - 10);
  EXPECT_LE(count, kMostWarnings);
}

}  // namespace
}  // namespace torc::runtime::pmpi
