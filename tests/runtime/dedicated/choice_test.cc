// What TORC_DEDICATED=auto tries and chooses, and the file that keeps it.
#include "runtime/dedicated/choice.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace torc::runtime::dedicated {
namespace {

using testing::ElementsAre;
using Kind = DedicatedRanks::Kind;

const std::vector<int> kTwoNodesOfFour = {0, 0, 0, 0, 4, 4, 4, 4};

std::vector<std::string> tried(const std::vector<int>& node_of_rank) {
  std::vector<std::string> names;
  for (const Candidate& each : candidatesOf(node_of_rank)) {
    names.push_back(std::to_string(each.ranks.number) + (each.ranks.fills_nodes ? "@nodes" : ""));
  }
  return names;
}

TEST(ChoiceTest, WhatIsTried) {
  EXPECT_THAT(tried({0}), ElementsAre("0"));
  EXPECT_THAT(tried({0, 0}), ElementsAre("0"));
  EXPECT_THAT(tried({0, 0, 0}), ElementsAre("0", "1"));
  EXPECT_THAT(tried(kTwoNodesOfFour), ElementsAre("0", "2", "1"));
  std::vector<int> nodes(32);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    nodes[i] = static_cast<int>(i / 4);
  EXPECT_THAT(tried(nodes), ElementsAre("0", "10", "10@nodes", "6", "6@nodes", "3", "1"));
}

TEST(ChoiceTest, TheFewestOfThoseThatAreNearlyAsFast) {
  const auto best = [](double none, double two, double one) {
    const std::vector<Candidate> candidates = {
        {{}, none}, {{Kind::kNumber, 2, {}}, two}, {{Kind::kNumber, 1, {}}, one}};
    return bestOf(candidates).ranks.number;
  };
  EXPECT_EQ(best(1, 1, 1), 0u);
  EXPECT_EQ(best(1.04, 1, 2), 0u);
  EXPECT_EQ(best(1.06, 1, 2), 2u);
  EXPECT_EQ(best(1.06, 1, 1.04), 1u);
}

TEST(ChoiceTest, TheFileKeepsTheChoice) {
  const DedicatedRanks wanted = *parseDedicatedRanks("auto:1K:95");
  const std::vector<Candidate> candidates = {{{}, 30e-6},
                                             {*parseDedicatedRanks("=4@nodes"), 20e-6}};
  const std::string text = choiceText(wanted, kTwoNodesOfFour, candidates);
  EXPECT_EQ(text,
            "# What TORC_DEDICATED=auto has chosen in a job with so many nodes of so many ranks,\n"
            "# for sums of doubles around so much computation.\n"
            "nodes 2x4\n"
            "collective 1024 bytes, 95 us\n"
            "dedicated =4@nodes\n"
            "# none     30.00 us\n"
            "# =4@nodes     20.00 us\n");
  const StatusOr<DedicatedRanks> read = readChoice(text, wanted, kTwoNodesOfFour);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, *parseDedicatedRanks("=4@nodes"));
  const std::vector<Candidate> none = {{{}, 1}};
  EXPECT_EQ(*readChoice(choiceText(wanted, kTwoNodesOfFour, none), wanted, kTwoNodesOfFour),
            DedicatedRanks());
}

TEST(ChoiceTest, WhatAFileMayNotSay) {
  const auto fault = [](const std::string& text) {
    const StatusOr<DedicatedRanks> read =
        readChoice(text, *parseDedicatedRanks("auto"), kTwoNodesOfFour);
    return read.ok() ? "none" : read.status().message();
  };
  const std::string nodes = "nodes 2x4\n", collective = "collective 8 bytes, 0 us\n";
  EXPECT_EQ(fault(nodes + collective + "dedicated =1\n"), "none");
  EXPECT_EQ(fault("nodes 2x4\r\n\r\n" + collective + "dedicated =1\r\n"), "none");
  EXPECT_EQ(fault(nodes + collective + "dedicated =1"),
            "line 3 has no line feed at its end: the file may be cut");
  EXPECT_EQ(fault(nodes + collective + "dedicated =1\ndedicated =2\n"),
            "line 4: dedicated is there a second time");
  EXPECT_EQ(fault(nodes + collective + "dedicated =8\n"),
            "line 3: of 8 ranks none would be the program's");
  EXPECT_EQ(fault("nodes \x1b[2J\n"), "is of a job whose nodes are ?[2J; this one's are 2x4");
  EXPECT_EQ(
      fault(std::string(200, 'a') + "\n"),
      "line 1: '" + std::string(100, 'a') + "...' is none of nodes, collective and dedicated");
  EXPECT_EQ(fault("nodes 8x1\n" + collective + "dedicated =1\n"),
            "is of a job whose nodes are 8x1; this one's are 2x4");
  EXPECT_EQ(fault(nodes + "collective 16 bytes, 0 us\ndedicated =1\n"),
            "is of 16 bytes, 0 us; this job wants 8 bytes, 0 us");
  EXPECT_EQ(fault(nodes + collective + "\ndedicated auto\n"),
            "line 4: dedicated is 'auto'; allowed: none, or as TORC_DEDICATED is without auto");
  EXPECT_EQ(fault("{}\n"), "line 1: '{}' is none of nodes, collective and dedicated");
  EXPECT_EQ(fault(""), "has no line nodes");
  EXPECT_EQ(fault(nodes), "has no line collective");
  EXPECT_EQ(fault(nodes + collective), "has no line dedicated");
}

}  // namespace
}  // namespace torc::runtime::dedicated
