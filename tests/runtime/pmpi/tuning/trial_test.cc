// Trial: the order of candidates, and the winner, for given times.
#include "runtime/pmpi/tuning/trial.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

namespace torc::runtime::pmpi {
namespace {

constexpr Trial::Length kLength{.rounds = 4, .calls = 3};

/// A trial of as many candidates as there are times, MPI's own last, in which each takes its time
/// but for the calls that do not count.
Trial ended(const std::vector<double>& seconds, std::size_t mpis) {
  Trial trial(seconds.size(), mpis, kLength);
  std::vector<std::size_t> calls(seconds.size());
  while (!trial.isOver()) {
    const std::size_t candidate = trial.turn();
    // What does not count is much longer, and more so of the candidates that win.
    const std::size_t call = calls[candidate]++;
    const bool counts = call >= kLength.calls && call % kLength.calls > 0;
    trial.took(counts ? seconds[candidate] : 1000 / seconds[candidate]);
  }
  return trial;
}

std::size_t winnerOf(const std::vector<double>& seconds) {
  return ended(seconds, seconds.size() - 1).winner();
}

TEST(Trial, EveryCandidateHasItsTurnOnceARoundAndAnotherOneBegins) {
  Trial trial(3, 2, {.rounds = 2, .calls = 2});
  std::vector<std::size_t> turns;
  while (!trial.isOver()) {
    turns.push_back(trial.turn());
    trial.took(1);
  }
  EXPECT_EQ(turns,
            (std::vector<std::size_t>{0, 0, 1, 1, 2, 2, 1, 1, 2, 2, 0, 0, 2, 2, 0, 0, 1, 1}));
  EXPECT_EQ(trial.calls(), 18u);
}

TEST(Trial, WhatIsLeftOutHasNoTurnsAndDoesNotWin) {
  Trial trial(3, 2, {.rounds = 4, .calls = 1});
  std::vector<std::size_t> calls(3);
  trial.took(9);
  ASSERT_EQ(trial.turn(), 1u);
  trial.leaveOut();
  for (++calls[0]; !trial.isOver();) {
    ++calls[trial.turn()];
    trial.took(trial.turn() == 0 ? 9 : 10);
  }
  EXPECT_EQ(calls, (std::vector<std::size_t>{5, 0, 5}));
  EXPECT_TRUE(trial.isOut(1));
  EXPECT_EQ(trial.winner(), 0u);  // times of 0 that were never measured are not looked at
}

TEST(Trial, WhereOnlyMpisOwnIsLeftItWins) {
  Trial trial(2, 1, kLength);
  trial.leaveOut();
  while (!trial.isOver())
    trial.took(5);
  EXPECT_EQ(trial.winner(), 1u);
}

TEST(Trial, TheFastestWins) {
  EXPECT_EQ(winnerOf({10, 8, 9, 12}), 1u);
  EXPECT_EQ(winnerOf({10, 12, 9, 12}), 2u);
  EXPECT_EQ(winnerOf({10, 12, 11, 8}), 3u);
  EXPECT_EQ(winnerOf({7, 12, 11, 8}), 0u);
}

TEST(Trial, OfThoseThatAreAsFastTheLibrarysOwnChoiceThenASchedule) {
  EXPECT_EQ(winnerOf({10.2, 10, 10.1}), 0u);
  EXPECT_EQ(winnerOf({10.31, 10.2, 10}), 1u);
  EXPECT_EQ(winnerOf({10.4, 10.31, 10}), 2u);
  EXPECT_EQ(winnerOf({10.4, 10.25, 10.2, 10}), 2u);  // the faster one of the schedules
}

TEST(Trial, MpisOwnMayBeTheLibrarysChoice) {
  EXPECT_EQ(ended({10.2, 10, 11}, 0).winner(), 0u);
  EXPECT_EQ(ended({10.4, 11, 10}, 0).winner(), 2u);
}

TEST(Trial, TurnsThatWereDisturbedDoNotMatter) {
  Trial trial(2, 1, kLength);
  std::vector<std::size_t> calls(2);
  while (!trial.isOver()) {
    const std::size_t candidate = trial.turn(), round = calls[candidate]++ / kLength.calls;
    // In two of four rounds candidate 0 was disturbed by other work.
    trial.took(candidate == 0 ? round >= 3 ? 900 : 10 : 20);
  }
  EXPECT_EQ(trial.typical(0), 10);
  EXPECT_EQ(trial.winner(), 0u);
}

TEST(Trial, OfATurnTheMeanCounts) {
  Trial trial(2, 1, kLength);
  std::vector<std::size_t> calls(2);
  while (!trial.isOver()) {
    const std::size_t candidate = trial.turn(), call = calls[candidate]++ % kLength.calls;
    trial.took(candidate == 1 ? 5 : call == 1 ? 1 : 7);
  }
  EXPECT_DOUBLE_EQ(trial.typical(0), 4);
  EXPECT_DOUBLE_EQ(trial.typical(1), 5);
}

TEST(Trial, ATurnMayBeOneCallWhichCounts) {
  Trial trial(2, 1, {.rounds = 4, .calls = 1});
  std::size_t calls = 0;
  while (!trial.isOver())
    trial.took(++calls <= 2 ? 100 : trial.turn() == 0 ? 3 : 2);
  EXPECT_EQ(calls, 10u);
  EXPECT_EQ(trial.typical(0), 3);
  EXPECT_EQ(trial.winner(), 1u);
}

TEST(Trial, TimesOfTheSlowestRankCount) {
  // On this rank candidate 0 is fast, on another one it is slow.
  Trial here = ended({1, 5, 9}, 2), there = ended({7, 6, 2}, 2);
  EXPECT_EQ(here.winner(), 0u);
  EXPECT_EQ(there.winner(), 2u);
  for (Trial* mine : {&here, &there}) {
    Trial& other = mine == &here ? there : here;
    for (std::size_t i = 0; i < mine->seconds().size(); ++i)
      mine->seconds()[i] = std::max(mine->seconds()[i], other.seconds()[i]);
  }
  EXPECT_EQ(here.winner(), 1u);
  EXPECT_EQ(there.winner(), 1u);
}

}  // namespace
}  // namespace torc::runtime::pmpi
