// Trees from a root: those on rings, those on tori with lines and with rings cut by dead links, and
// those around one dead node: each link carries one part. The last two are proved and run from
// every root.
#include <gtest/gtest.h>

#include "ir/verifier/verifier.h"
#include "tests/compiler/algorithms/checks.h"

namespace torc::compiler {
namespace {

/// A shape, what is dead there, a link or a node, and how many parts there are.
struct TreeCase {
  const char* algorithm;
  const char* shape;
  const char* dead;
  std::uint64_t parts;
};

class Trees : public testing::TestWithParam<std::tuple<Collective, TreeCase>> {
 protected:
  static Schedule compiled(std::uint32_t segments) {
    const auto& [collective, test] = GetParam();
    const std::string dead = test.dead;
    const bool is_link = dead.find(':') != dead.npos;
    std::vector<std::string_view> nodes, links;
    if (!dead.empty()) (is_link ? links : nodes).push_back(dead);
    return compiledInSegments(test.algorithm, collective, damaged(test.shape, nodes, links),
                              segments);
  }
};

TEST_P(Trees, AreProvedAndRunFromEveryRoot) {
  if (std::get<1>(GetParam()).algorithm == std::string("rectangular")) return;  // served_test.cc
  expectProofAndRuns(compiled(5).view());
}

TEST_P(Trees, LoadEveryLinkOnce) {
  const TreeCase& test = std::get<1>(GetParam());
  const Schedule schedule = compiled(1);
  const ir::VerifyResult proof =
      ir::verify(schedule.view(), {.per_rank = schedule.topology.dead_node_count > 0});
  EXPECT_TRUE(proof.ok());
  for (const ir::LinkLoad& load : proof.loads)
    EXPECT_NEAR(load.share, 1.0 / static_cast<double>(test.parts), 1e-12);
  if (schedule.topology.dead_node_count > 0) return;
  for (std::int32_t root = 0; root < static_cast<std::int32_t>(schedule.topology.ranks()); ++root)
    expectArcDisjointTrees(schedule.view(), root, test.parts);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Trees,
    testing::Combine(
        testing::Values(Collective::kBroadcast, Collective::kReduce),
        testing::Values(
            TreeCase{"rectangular", "2", "", 2}, TreeCase{"rectangular", "3", "", 2},
            TreeCase{"rectangular", "4", "", 2}, TreeCase{"rectangular", "7", "", 2},
            TreeCase{"rectangular", "2x2", "", 4}, TreeCase{"rectangular", "4x3", "", 4},
            TreeCase{"rectangular", "2x5", "", 4}, TreeCase{"rectangular", "3x1x4", "", 4},
            TreeCase{"rectangular", "3x3x3", "", 6}, TreeCase{"rectangular", "4x2x3", "", 6},
            TreeCase{"rectangular", "2x2x2x2", "", 8}, TreeCase{"rectangular", "3x2x2x2x2", "", 10},
            TreeCase{"product-trees", "3m", "", 1}, TreeCase{"product-trees", "5m", "", 1},
            TreeCase{"product-trees", "2m", "", 1}, TreeCase{"product-trees", "4mx3m", "", 2},
            TreeCase{"product-trees", "3x4m", "", 3}, TreeCase{"product-trees", "5mx6", "", 3},
            TreeCase{"product-trees", "3mx1x4", "", 3}, TreeCase{"product-trees", "2x3m", "", 2},
            TreeCase{"product-trees", "3mx3mx3m", "", 3},
            TreeCase{"product-trees", "4x3x3m", "", 5}, TreeCase{"product-trees", "3mx4x3m", "", 4},
            TreeCase{"product-trees", "3mx3mx3mx3", "", 4},
            TreeCase{"product-trees", "3x3x2mx3m", "", 6},
            TreeCase{"product-trees", "2x3mx3m", "", 4}, TreeCase{"product-trees", "2x2x3m", "", 4},
            TreeCase{"product-trees", "6", "1:X", 1}, TreeCase{"product-trees", "4x3", "0,1:Y", 3},
            TreeCase{"product-trees", "3x3x4", "0,0,1:Z", 5},
            TreeCase{"product-trees", "4x4m", "1,0:X", 2}, TreeCase{"plane-trees", "5", "3", 1},
            TreeCase{"plane-trees", "2x2", "1,1", 2}, TreeCase{"plane-trees", "4x3", "1,0", 3},
            TreeCase{"plane-trees", "2x5", "0,4", 2}, TreeCase{"plane-trees", "3x3x3", "1,1,1", 5},
            TreeCase{"plane-trees", "3x2x4", "2,1,0", 4},
            TreeCase{"plane-trees", "2x2x2", "0,0,0", 4},
            TreeCase{"plane-trees", "2x3x2x2", "1,2,0,1", 5})));

struct DetourCase {
  const char* shape;
  std::vector<std::string_view> nodes, links;
  double load;  // of the busiest link from root 0, at most
};

class DetourTrees : public testing::TestWithParam<std::tuple<Collective, DetourCase>> {};

TEST_P(DetourTrees, AreProvedAndRunFromEveryRoot) {
  const auto& [collective, test] = GetParam();
  const Schedule schedule = compiledInSegments("detour-trees", collective,
                                               damaged(test.shape, test.nodes, test.links), 5);
  expectProofAndRuns(schedule.view());
  double busiest = 0;
  for (const ir::LinkLoad& load : ir::verify(schedule.view(), {.per_rank = true}).loads)
    busiest = std::max(busiest, load.share);
  EXPECT_LE(busiest, test.load);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, DetourTrees,
    testing::Combine(testing::Values(Collective::kBroadcast, Collective::kReduce),
                     testing::Values(DetourCase{"5x4", {"1,1", "3,2"}, {}, 0.501},
                                     DetourCase{"4x4", {"0,1"}, {"2,3:X"}, 0.501},
                                     DetourCase{"4x3", {}, {"1,0:X", "3,1:X"}, 0.501},
                                     DetourCase{"3x3x3", {"1,1,1"}, {"0,0,2:Y"}, 0.25},
                                     DetourCase{"6", {"2", "3"}, {}, 1.001},
                                     DetourCase{"2x2", {}, {"0,0:X"}, 0.376},
                                     DetourCase{"4x3m", {"1,1"}, {}, 0.667},
                                     DetourCase{"3mx2mx3", {"1,1,1"}, {}, 0.584},
                                     DetourCase{"4x2m", {}, {"1,0:X", "2,1:X"}, 1.001})));

}  // namespace
}  // namespace torc::compiler
