// Trees around damage: they are trees, share no cable, and have the expected link loads.
// All-to-alls around damage: routes are shortest paths, link loads, and results.
#include "compiler/algorithms/damage/spanning_trees.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "compiler/algorithms/algorithm.h"
#include "compiler/algorithms/damage/balanced_routes.h"
#include "compiler/algorithms/damage/tree_packing.h"
#include "compiler/compile.h"
#include "ir/verifier/verifier.h"
#include "schedules/expansion/expand.h"
#include "tests/compiler/algorithms/checks.h"

namespace torc::compiler {
namespace {

TEST(TreePacking, TreesSpanAndUseCablesNoMoreOftenThanTheyMay) {
  for (const std::uint32_t copies : {1u, 2u, 3u}) {
    const LiveGraph graph(damaged("5x4", {"0,0", "2,2"}, {"3,1:X", "4,3:Y"}));
    const std::vector<std::uint32_t> limit(graph.cables(), copies);
    std::uint32_t count = 0;
    while (packTrees(graph, limit, count + 1))
      ++count;
    ASSERT_GT(count, 0u);
    std::vector<std::uint32_t> uses(graph.cables(), 0);
    const std::optional<std::vector<TreeCables>> trees = packTrees(graph, limit, count);
    for (const TreeCables& tree : *trees) {
      EXPECT_TRUE(isSpanningTree(graph, tree));
      for (const std::uint32_t cable : tree)
        ++uses[cable];
    }
    EXPECT_LE(*std::ranges::max_element(uses), copies);
  }
}

// Nash-Williams: as many trees as the worst partition of the nodes allows.
TEST(TreePacking, FindsAsManyTreesAsThereAre) {
  const struct {
    Topology topology;
    std::uint32_t copies, trees;
  } cases[] = {
      {damaged("4x4x4", {"1,2,3"}), 1, 3},        // 186 cables for 62 of each: all of them
      {damaged("4x4x4", {}, {"0,0,1:Z"}), 1, 3},  // 191 / 63
      {damaged("8x8", {"3,3"}), 1, 2},            // 124 / 62
      {damaged("3x3", {"1,1"}), 1, 2},            // 14 / 7
      {damaged("5", {}), 1, 1},                   // 5 / 4
      {damaged("5", {}), 4, 5},                   // 20 / 4
      {damaged("5", {}, {"0:X"}), 3, 3},          // a line
      {damaged("2x2", {}), 1, 2},                 // two cables each: 8 / 3
      {damaged("4mx4m", {}), 1, 1},               // a corner has two cables, 24 / 15
      {damaged("4mx4m", {}), 2, 3},               // 48 / 15
      // A node that hangs on a single cable allows one tree, whatever the others have.
      {damaged("4x4", {}, {"0,0:X", "3,0:X", "0,0:Y"}), 1, 1},
      {damaged("4x4", {}, {"0,0:X", "3,0:X", "0,0:Y"}), 3, 3},
  };
  for (const auto& [topology, copies, trees] : cases) {
    const LiveGraph graph(topology);
    const std::vector<std::uint32_t> limit(graph.cables(), copies);
    EXPECT_TRUE(packTrees(graph, limit, trees)) << topology.shape() << " " << copies;
    EXPECT_FALSE(packTrees(graph, limit, trees + 1)) << topology.shape() << " " << copies;
  }
}

TEST(TreePacking, LoadIsNearWhatAllCablesCouldCarry) {
  const struct {
    Topology topology;
    double ratio;  // of the load to (p-1) / cables
  } cases[] = {
      {damaged("4x4x4", {"1,2,3"}), 1.0},
      {damaged("8x8", {"3,3"}), 1.0},
      {damaged("4x4x4", {}, {"0,0,1:Z", "0,0,2:Z"}), 1.02},
      {damaged("4x4", {"0,0", "2,2"}), 1.06},
      {damaged("6x5", {"1,2"}), 1.03},
  };
  for (const auto& [topology, ratio] : cases) {
    const LiveGraph graph(topology);
    const double least = static_cast<double>(graph.nodes() - 1) / graph.cables();
    const double load = bestPacking(graph).load;
    EXPECT_GE(load, least * (1 - 1e-12)) << topology.shape();
    EXPECT_LE(load, least * ratio + 1e-12) << topology.shape();
  }
}

TEST(TreePacking, SlowCablesAreInFewerTrees) {
  Topology topology = damaged("4x4", {"1,2"});
  topology.axes[1].bandwidth = 0.5;
  const LiveGraph graph(topology);
  double capacity = 0;
  for (std::uint32_t cable = 0; cable < graph.cables(); ++cable)
    capacity += graph.arc(2 * cable).bandwidth;
  EXPECT_LE(bestPacking(graph).load, 1.15 * (graph.nodes() - 1) / capacity);
}

TEST(SpanningTrees, AreProvedRoundDeadNodes) {
  const Topology topology = damaged("4x4x4", {"1,2,3", "0,0,0"});
  const ir::Program program = cantFail(
      cantFail(findAlgorithm("spanning-trees"))->lower({Collective::kAllreduce, topology}));
  const ir::VerifyResult result = ir::verify(program.schedule.view());
  EXPECT_TRUE(result.ok()) << result.faults.front().message;
}

// Children lie in more directions than receives of a node can be under way.
TEST(SpanningTrees, AreProvedWithChildrenInTenDirections) {
  const Topology topology = damaged("3x3x3x3x2", {"1,1,1,1,1"});
  const ir::Program program = cantFail(
      cantFail(findAlgorithm("spanning-trees"))->lower({Collective::kAllreduce, topology}));
  const ir::VerifyResult result = ir::verify(program.schedule.view());
  EXPECT_TRUE(result.ok()) << result.faults.front().message;
}

/// What every rank executes, hop by hop: bucket on lines behind a cut, and trees.
TEST(Damage, NoRankSendsOverWhatIsDead) {
  for (const Topology& topology :
       {damaged("4x4x4", {}, {"0,0,1:Z"}), damaged("4x5", {}, {"3,0:X", "3,4:X", "1,4:Y"}),
        damaged("2x3", {}, {"1,2:X"}), damaged("4x4", {"1,2"}, {"0,0:X"})}) {
    for (const Collective collective : {Collective::kAllreduce, Collective::kReduceScatter,
                                        Collective::kAllgather, Collective::kAlltoall}) {
      passes::PassManagerOptions manager;
      manager.verify_each = false;
      const Algorithm& algorithm = defaultAlgorithm({collective, topology});
      const bool has_trees = topology.isBroken() && collective == Collective::kAllreduce;
      EXPECT_EQ(algorithm.isSettled(), has_trees || collective == Collective::kAlltoall);
      const ir::Program program =
          cantFail(compile({collective, topology}, algorithm, pipelineOf(algorithm, {}), manager));
      const ScheduleView schedule = program.schedule.view();
      std::size_t messages = 0;
      for (std::int32_t rank = 0; rank < static_cast<std::int32_t>(topology.ranks()); ++rank) {
        const FlatProgram flat = *expand(schedule, rank, {1000, {}, {}});
        for (const FlatOperation& operation : flat.operations) {
          if (!sends(operation.kind)) continue;
          ++messages;
          const Shift& shift = schedule.shifts[schedule.operations[operation.source].peer];
          const auto moves = [](std::int32_t distance) { return distance != 0; };
          ASSERT_EQ(std::ranges::count_if(shift, moves), 1);
          const auto axis =
              static_cast<std::uint32_t>(std::ranges::find_if(shift, moves) - shift.begin());
          Coordinates to{};
          EXPECT_EQ(std::abs(shift[axis]), 1);
          EXPECT_TRUE(topology.hasLink(topology.coordinatesOf(rank), axis, shift[axis], to));
          EXPECT_EQ(topology.rankOf(to), operation.peer);
        }
      }
      EXPECT_GE(messages, 2 * (topology.ranks() - 1));
    }
  }
}

TEST(BalancedRoutes, AreShortestWays) {
  const LiveGraph graph(damaged("4x3m+2", {"1,1"}, {"2,2:X"}));
  const BalancedRoutes routes = balancedRoutes(graph);
  for (std::uint32_t source = 0; source < graph.nodes(); ++source) {
    const std::vector<std::uint32_t> distance = graph.distancesFrom(source);
    for (std::uint32_t destination = 0; destination < graph.nodes(); ++destination) {
      const Route& route = routes.routes[source][destination];
      EXPECT_EQ(route.size(), distance[destination]);
      std::uint32_t at = source;
      for (const std::uint32_t arc : route) {
        EXPECT_EQ(graph.arc(arc).from, at);
        at = graph.arc(arc).to;
      }
      EXPECT_EQ(at, destination);
      EXPECT_LE(route.size(), routes.hops);
    }
  }
}

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// The busiest link over a mean one, which is a bound where all axes are as long.
TEST(BalancedRoutes, LinksShareTheBlocks) {
  const struct {
    Topology topology;
    double ratio;
  } cases[] = {
      {damaged("4x4", {"1,2"}), 1.125},  // 9 blocks for 8
      {damaged("8x8", {"3,3"}), 1.07},           {damaged("4x4x4", {"1,2,3"}), 1.0625},
      {damaged("4x4x4", {}, {"0,0,1:Z"}), 1.06}, {damaged("5x5x5", {"0,0,0", "2,2,2"}), 1.04},
      {damaged("3x3x3x3", {"0,1,2,0"}), 1.08},
  };
  for (const auto& [topology, ratio] : cases) {
    const LiveGraph graph(topology);
    const BalancedRoutes routes = balancedRoutes(graph);
    std::vector<double> loads(graph.arcs().size(), 0);
    for (const auto& row : routes.routes) {
      for (const Route& route : row) {
        for (const std::uint32_t arc : route)
          ++loads[arc];
      }
    }
    EXPECT_NEAR(*std::ranges::max_element(loads), routes.load, 1e-9);
    EXPECT_NEAR(sum(loads) / static_cast<double>(loads.size()), sum(meanLoads(graph)), 1e-9);
    EXPECT_NEAR(routes.mean_load, sum(meanLoads(graph)), 1e-9);
    EXPECT_LE(routes.load, ratio * routes.mean_load + 1e-9) << topology.shape();
  }
}

/// A link of half the bandwidth gets little more than half as much.
TEST(BalancedRoutes, SlowLinksCarryLess) {
  Topology topology = damaged("6x6", {"1,2"});
  topology.axes[1].bandwidth = 0.5;
  const LiveGraph graph(topology);
  const BalancedRoutes routes = balancedRoutes(graph);
  // Along Y there is as far to go as along X, by links of half the bandwidth.
  double along_y = 0, links_y = 0;
  for (const auto& row : routes.routes) {
    for (const Route& route : row)
      along_y += static_cast<double>(
          llvm::count_if(route, [&](std::uint32_t arc) { return graph.arc(arc).axis == 1; }));
  }
  for (const LiveArc& arc : graph.arcs())
    links_y += arc.axis == 1 ? 1 : 0;
  EXPECT_LE(routes.load, 1.08 * along_y / links_y / 0.5);
}

TEST(BalancedAlltoall, IsProvedAndRight) {
  for (const Topology& topology :
       {damaged("4x4", {"1,2"}), damaged("3x3x2", {"0,0,0"}, {"1,1,0:X"}), damaged("5mx4", {"2,1"}),
        damaged("3x2+2", {"1,1"}), damaged("7", {}, {"2:X"}), damaged("2x2x2x2x2", {"0,1,0,1,0"}),
        damaged("16x2", {"5,1"}), damaged("16x2", {"5,0", "6,0", "5,1"}), damaged("2", {"1"})}) {
    for (const std::uint32_t chunks : {1u, 6u}) {
      SCOPED_TRACE(topology.shape());
      const Schedule schedule =
          compiledInSegments("balanced-routes", Collective::kAlltoall, topology, chunks);
      expectProofAndRuns(schedule.view());
    }
  }
}

}  // namespace
}  // namespace torc::compiler
