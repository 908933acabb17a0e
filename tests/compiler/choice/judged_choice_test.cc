// Choices hold by the strictest judge of their machine: the chosen schedule takes at most a tenth
// longer by it than the best of all candidates. `bazel run //bench:judged_choices` does the same
// for more.
#include "bench/judged_choice.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace torc::bench {
namespace {

constexpr double kMostRegret = 1.10;

struct Case {
  const char* machine;
  Collective collective;
  const char* shape;
  double bytes;
};

class JudgedChoiceTest : public testing::TestWithParam<Case> {};

TEST_P(JudgedChoiceTest, IsWithinATenthOfTheBest) {
  const auto& [machine, collective, shape, bytes] = GetParam();
  auto judged = judgeChoice(collective, shape, machine, bytes, 2);
  ASSERT_TRUE(static_cast<bool>(judged)) << llvm::toString(judged.takeError());
  EXPECT_GT(judged->judged, 1);
  EXPECT_GT(judged->best_s, 0);
  EXPECT_LE(judged->regret(), kMostRegret) << judged->chosen << " and not " << judged->best;
}

std::string nameOf(const testing::TestParamInfo<Case>& info) {
  std::string name = std::string(info.param.machine) + "_" +
                     std::string(rowOf(info.param.collective).name) + "_" + info.param.shape + "_" +
                     std::to_string(static_cast<long>(info.param.bytes));
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

// Processors and routers: packet by packet.
INSTANTIATE_TEST_SUITE_P(ByPackets, JudgedChoiceTest,
                         testing::Values(Case{"bgl", Collective::kAlltoall, "8x4x4", 1024},
                                         Case{"bgl", Collective::kAlltoall, "4x4x4", 16384},
                                         Case{"bgl", Collective::kAllreduce, "4x4x4", 16384},
                                         Case{"bgl", Collective::kAllgather, "8x4", 65536},
                                         Case{"bgl", Collective::kReduceScatter, "4x4x4", 16384},
                                         Case{"bgl", Collective::kBroadcast, "8x4x2", 65536}),
                         nameOf);

std::vector<Case> onEveryMachine() {
  std::vector<Case> cases;
  for (const char* machine : {"generic", "bgp", "bgq", "fugaku", "gemini", "tpu-v4", "trainium2",
                              "exascale-2.5d", "cluster", "smpi"}) {
    cases.push_back({machine, Collective::kAllreduce, "4x4x4", 4096});
    cases.push_back({machine, Collective::kAllreduce, "5x3x4", 1 << 18});
    cases.push_back({machine, Collective::kReduceScatter, "8x4m", 1 << 20});
    cases.push_back({machine, Collective::kBroadcast, "5x3x4", 1 << 18});
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(RankByRank, JudgedChoiceTest, testing::ValuesIn(onEveryMachine()), nameOf);

}  // namespace
}  // namespace torc::bench
