// Statistics of several ranks become one on rank 0.
#include <string>

#include <gtest/gtest.h>
#include <mpi.h>

#include "runtime/pmpi/statistics/statistics.h"
#include "tests/mpi/world.h"

namespace torc::runtime::pmpi {
namespace {

class StatisticsMergeTest : public testing::Test {
 protected:
  void record(const char* function, int times, double seconds, const char* by = "file") {
    const CallRecord call{function, 0, rank_, MPI_INT, MPI_SUM, 64, seconds, Service::kServed, by};
    for (int i = 0; i < times; ++i)
      statistics_.record(call);
  }

  const int rank_ = worldRank(), size_ = worldSize();
  Statistics statistics_{false};
};

TEST_F(StatisticsMergeTest, EveryRankCountsOnce) {
  // All ranks make calls of one kind, rank r so many as r + 1; each has one of its own, too.
  const std::string own = "MPI_Of_rank_" + std::to_string(rank_);
  record("MPI_Allreduce", rank_ + 1, rank_ + 1);
  record(own.c_str(), 1, 0.5);
  const int late_rank = size_ - 1;
  record("MPI_Barrier", 2, rank_ == late_rank ? 0.125 : 0.5);
  statistics_.communicator("world", "", rank_);
  RankFacts facts;
  facts.plans_made = 10;
  facts.load_seconds = rank_;
  StatusOr<JobStatistics> merged = mergeStatistics(statistics_.snapshot(facts), MPI_COMM_WORLD);
  ASSERT_TRUE(merged.ok()) << merged.status().message();
  if (rank_ != 0) return;

  const auto ranks = static_cast<std::uint64_t>(size_);
  EXPECT_EQ(merged->ranks, ranks);
  ASSERT_EQ(merged->calls.size(), ranks + 2);
  std::uint64_t own_rows = 0;
  for (const CallRow& row : merged->calls) {
    if (row.function == "MPI_Barrier") {
      EXPECT_EQ(row.least_mean_seconds, 0.125);
      EXPECT_EQ(row.late_rank, static_cast<std::uint64_t>(late_rank));
      continue;
    }
    if (row.function != "MPI_Allreduce") {
      EXPECT_EQ(row.calls, 1u);
      EXPECT_EQ(row.ranks, 1u);
      ++own_rows;
      continue;
    }
    EXPECT_EQ(row.calls, ranks * (ranks + 1) / 2);
    EXPECT_EQ(row.ranks, ranks);
    EXPECT_EQ(row.bytes, row.calls * 64);
    EXPECT_EQ(row.least_seconds, 1);
    EXPECT_EQ(row.most_seconds, size_);
    EXPECT_EQ(row.datatype, "MPI_INT");
    EXPECT_EQ(row.operation, "MPI_SUM");
  }
  EXPECT_EQ(own_rows, ranks);
  EXPECT_EQ(merged->communicators,
            (std::vector<CommunicatorRow>{{"world", "", 1, 0, 0, 0, ranks}}));
  EXPECT_EQ(merged->facts.plans_made, 10 * ranks);
  EXPECT_EQ(merged->facts.load_seconds, size_ - 1);
}

TEST_F(StatisticsMergeTest, OverALargeMessage) {
  // Each rank with as many rows as it can have, of long texts: beyond MPI's eager messages.
  std::vector<std::string> reasons(kMostCallRows);
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    reasons[i] = std::string(500, 'x') + std::to_string(i);
    record("MPI_Barrier", 1, 0.5, reasons[i].c_str());
  }
  StatusOr<JobStatistics> merged = mergeStatistics(statistics_.snapshot({}), MPI_COMM_WORLD);
  ASSERT_TRUE(merged.ok()) << merged.status().message();
  if (rank_ != 0) return;
  ASSERT_EQ(merged->calls.size(), kMostCallRows);
  for (const CallRow& row : merged->calls)
    EXPECT_EQ(row.calls, static_cast<std::uint64_t>(size_));
}

}  // namespace
}  // namespace torc::runtime::pmpi
