// The values of TORC_DEDICATED and TORC_DEDICATED_OPERATIONS.
#include "settings/dedicated_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace torc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Kind = DedicatedRanks::Kind;

TEST(DedicatedRanksTest, RatiosNumbersAndLists) {
  EXPECT_EQ(parseDedicatedRanks("1:8"), (DedicatedRanks{Kind::kRatio, 8, {}}));
  EXPECT_EQ(parseDedicatedRanks("=16"), (DedicatedRanks{Kind::kNumber, 16, {}}));
  EXPECT_EQ(parseDedicatedRanks("1:8@nodes"), (DedicatedRanks{Kind::kRatio, 8, {}, true}));
  EXPECT_EQ(parseDedicatedRanks("=4@nodes"), (DedicatedRanks{Kind::kNumber, 4, {}, true}));
  EXPECT_THAT(parseDedicatedRanks("7,3,12-15,13,16")->list,
              ElementsAre(RankRange{3, 3}, RankRange{7, 7}, RankRange{12, 16}));
  EXPECT_THAT(parseDedicatedRanks("0")->list, ElementsAre(RankRange{0, 0}));
  for (const char* wrong : {"", "1:0", "2:8", "=0", "=", "1:", "-1", "3-1", "1,", ",1", "1,,2", "a",
                            "1:8x", "3@nodes", "1:8@", "auto", "99999999", "0-99999999"}) {
    EXPECT_EQ(parseDedicatedRanks(wrong), std::nullopt) << wrong;
  }
}

/// Ranges are kept as such: what is kept is no longer than the text, however many ranks it names.
TEST(DedicatedRanksTest, RangesCostTheirText) {
  std::string all = "0-16777215", odd = "1";
  for (int i = 1; i < 1000; ++i) {
    all += ",0-16777215";
    odd += "," + std::to_string(2 * i + 1);
  }
  EXPECT_THAT(parseDedicatedRanks(all)->list, ElementsAre(RankRange{0, (1 << 24) - 1}));
  EXPECT_EQ(dedicatedCount(*parseDedicatedRanks(all), 4).status().message(),
            "the job has no rank 16777215; its ranks are 0 to 3");
  EXPECT_EQ(parseDedicatedRanks(odd)->list.size(), 1000u);
}

TEST(DedicatedRanksTest, HowMany) {
  const auto count = [](const char* text, std::size_t ranks) {
    return *dedicatedCount(*parseDedicatedRanks(text), ranks);
  };
  EXPECT_EQ(count("1:4", 640), 128u);  // Sancho et al., Section IV.A
  EXPECT_EQ(count("1:3", 8), 2u);
  EXPECT_EQ(count("1:3", 10), 2u);
  EXPECT_EQ(count("=7", 8), 7u);
  EXPECT_EQ(count("1,2", 8), 2u);
}

TEST(DedicatedRanksTest, Limits) {
  std::string allowed;
  const std::optional<OffloadLimits> limits =
      parseOffloadLimits("allreduce:1K,iallreduce,barrier,ireduce_scatter:0", allowed);
  ASSERT_TRUE(limits);
  const auto at = [](const OffloadLimits::Row& row, OffloadedCollective collective) {
    return row[collective.index()];
  };
  EXPECT_EQ(at(limits->blocking, {Collective::kAllreduce}), 1024u);
  EXPECT_EQ(at(limits->nonblocking, {Collective::kAllreduce}), kMostOffloadedBytes);
  EXPECT_EQ(at(limits->blocking, {.is_barrier = true}), kMostOffloadedBytes);
  EXPECT_EQ(at(limits->nonblocking, {.is_barrier = true}), std::nullopt);
  EXPECT_EQ(at(limits->nonblocking, {Collective::kReduceScatter}), 0u);
  EXPECT_EQ(parseOffloadLimits("none", allowed), OffloadLimits());
  for (const char* wrong : {"", "all", "scan", "allreduce:", "allreduce:1T", "allreduce:17M",
                            "allreduce,", "iiallreduce", "allreduce:1K:2"}) {
    EXPECT_EQ(parseOffloadLimits(wrong, allowed), std::nullopt) << wrong;
  }
  EXPECT_THAT(allowed, HasSubstr("allreduce, iallreduce, reduce"));
}

}  // namespace
}  // namespace torc
