// Statistics as plain data: merging, limits, bytes.
#include "runtime/pmpi/statistics/statistics_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace torc::runtime::pmpi {
namespace {

CallRow row(const std::string& function, std::uint64_t calls, double seconds,
            Service service = Service::kServed) {
  return {service,    function, "4x2", "MPI_INT", "MPI_SUM",   "file",  5, calls,
          calls * 20, 20,       20,    seconds,   seconds / 2, seconds, 1};
}

JobStatistics statistics(std::vector<CallRow> calls) {
  JobStatistics made;
  made.calls = std::move(calls);
  return made;
}

std::uint64_t callsOf(const JobStatistics& of) {
  std::uint64_t calls = 0;
  for (const CallRow& row : of.calls)
    calls += row.calls;
  return calls;
}

TEST(StatisticsRowsTest, EqualSignaturesAreOneRow) {
  JobStatistics sum = statistics({row("MPI_Allreduce", 3, 0.5)});
  CallRow larger = row("MPI_Allreduce", 2, 2.0);
  larger.least_bytes = 17;
  larger.most_bytes = 31;
  larger.bytes = 48;
  sum.merge(statistics({larger, row("MPI_Allgather", 1, 1.0)}));
  EXPECT_EQ(sum.ranks, 2u);
  ASSERT_EQ(sum.calls.size(), 2u);
  const CallRow& both = sum.calls[0];
  EXPECT_EQ(both.calls, 5u);
  EXPECT_EQ(both.bytes, 108u);
  EXPECT_EQ(both.least_bytes, 17u);
  EXPECT_EQ(both.most_bytes, 31u);
  EXPECT_DOUBLE_EQ(both.seconds, 2.5);
  EXPECT_DOUBLE_EQ(both.least_seconds, 0.25);
  EXPECT_DOUBLE_EQ(both.most_seconds, 2.0);
  EXPECT_EQ(both.ranks, 2u);
  EXPECT_EQ(sum.calls[1].ranks, 1u);
}

// Every part of a signature tells rows apart.
TEST(StatisticsRowsTest, DifferentSignaturesAreRowsOfTheirOwn) {
  std::vector<CallRow> rows(8, row("MPI_Allreduce", 1, 1.0));
  rows[1].service = Service::kNotTorcs;
  rows[2].function = "MPI_Iallreduce";
  rows[3].communicator = "2x4";
  rows[4].datatype = "MPI_FLOAT";
  rows[5].operation = "MPI_MAX";
  rows[6].by = "another file";
  rows[7].size_class = 6;
  JobStatistics sum = statistics({});
  for (const CallRow& one : rows)
    sum.merge(statistics({one}));
  EXPECT_EQ(sum.calls, rows);
}

TEST(StatisticsRowsTest, FactsAreSummedOrTheMostKept) {
  JobStatistics sum, other;
  sum.facts = {1, 100, 11, 5, 6, 7, 12, 10, 2, 40, 1, 0.5, 0.25};
  other.facts = {3, 50, 11, 1, 1, 9, 12, 20, 1, 30, 2, 0.125, 1.0};
  sum.merge(other);
  EXPECT_EQ(sum.facts, (RankFacts{3, 100, 11, 6, 7, 9, 12, 30, 3, 70, 3, 0.5, 1.0}));
}

TEST(StatisticsRowsTest, CommunicatorsAreCountedByDescriptionAndReason) {
  JobStatistics sum, other;
  sum.communicators = {{"4x2", "", 2, 10, 1, 0.5}, {"3 ranks", "no box", 1, 0, 7, 0.25}};
  other.communicators = {{"3 ranks", "no box", 4, 0, 20, 1.0}, {"3 ranks", "a gap", 5, 0, 9, 2.0}};
  sum.merge(other);
  EXPECT_EQ(sum.communicators, (std::vector<CommunicatorRow>{{"4x2", "", 2, 10, 1, 0.5},
                                                             {"3 ranks", "no box", 5, 0, 27, 1.25},
                                                             {"3 ranks", "a gap", 5, 0, 9, 2.0}}));
}

TEST(StatisticsRowsTest, ThereIsAMostOfRowsAndNoCallIsLost) {
  JobStatistics sum = statistics({});
  std::uint64_t calls = 0;
  for (int rank = 0; rank < 30; ++rank) {
    std::vector<CallRow> rows;
    for (int i = 0; i < 100; ++i) {
      const auto service = static_cast<Service>(i % 3);
      // Later ones take longer.
      rows.push_back(row(std::to_string(rank * 100 + i), 2, rank * 100 + i, service));
      calls += 2;
    }
    sum.merge(statistics(std::move(rows)));
  }
  EXPECT_EQ(callsOf(sum), calls);
  EXPECT_LE(sum.calls.size(), 2 * kMostCallRows + 3);
  int rests = 0;
  for (const CallRow& kept : sum.calls) {
    rests += kept.isRest() ? 1 : 0;
    if (kept.isRest()) {
      EXPECT_EQ(kept.least_bytes, 20u);
      continue;
    }
    EXPECT_GE(kept.seconds, 990) << kept.function;  // those of the least time are in the rests
  }
  EXPECT_EQ(rests, 3);

  JobStatistics many;
  for (std::size_t i = 0; i < 3 * kMostCommunicatorRows; ++i) {
    JobStatistics one;
    one.communicators = {{std::to_string(i), "", 1, 3, 2, 0.5}};
    many.merge(one);
  }
  EXPECT_EQ(many.communicators.size(), 2 * kMostCommunicatorRows);
  EXPECT_EQ(many.communicators.back().used, kMostCommunicatorRows + 1);
  EXPECT_EQ(many.communicators.back().served, 3 * (kMostCommunicatorRows + 1));
  EXPECT_EQ(many.communicators.back().handed, 2 * (kMostCommunicatorRows + 1));
}

TEST(StatisticsRowsTest, WhatWasTriedIsKeptRowByRowUpToAMost) {
  const TunedRow tuned = {"MPI_Bcast", "4x2", "file", 40, 20, 1e-6, 2e-6, 3e-6};
  JobStatistics sum, other;
  sum.tuned = {tuned};
  sum.trials = 3;
  sum.ended = 1;
  other.tuned.assign(kMostTunedRows - 2, tuned);
  other.trials = kMostTunedRows;
  other.ended = kMostTunedRows - 2;
  sum.merge(other);
  EXPECT_EQ(sum.tuned.size(), kMostTunedRows - 1);
  sum.merge(other);
  EXPECT_EQ(sum.tuned.size(), kMostTunedRows);
  EXPECT_EQ(sum.tuned.back(), tuned);
  EXPECT_EQ(sum.trials, 2 * kMostTunedRows + 3);
  EXPECT_EQ(sum.ended, 2 * kMostTunedRows - 3);
}

TEST(StatisticsRowsTest, BytesGiveTheSame) {
  JobStatistics all = statistics({row("MPI_Allreduce", 3, 0.5), row("", 1, 1, Service::kNotTorcs)});
  all.ranks = 7;
  all.communicators = {{"4x2", "", 2, 8, 9, 0.75}, {"3 ranks", "no box", 1, 0, 5, 0.125}};
  all.facts = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
  all.tuned = {{"MPI_Bcast", "4x2", "file", 40, 20, 1e-6, 2e-6, 3e-6}};
  all.trials = 8;
  all.ended = 9;
  const std::string bytes = all.bytes();
  StatusOr<JobStatistics> again = JobStatistics::fromBytes(bytes);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(*again, all);
}

TEST(StatisticsRowsTest, TornBytesAreRefused) {
  JobStatistics all = statistics({row("MPI_Allreduce", 3, 0.5)});
  all.communicators = {{"4x2", "", 2, 1, 0, 0.5}};
  all.tuned = {{"MPI_Bcast", "4x2", "file", 40, 20, 1e-6, 2e-6, 3e-6}};
  std::string bytes = all.bytes();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(JobStatistics::fromBytes(bytes.substr(0, length)).ok()) << length;
  }
  bytes.push_back('\0');
  EXPECT_FALSE(JobStatistics::fromBytes(bytes).ok());
}

}  // namespace
}  // namespace torc::runtime::pmpi
