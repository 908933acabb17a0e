// All-to-alls round damage: that routes are shortest ways, what links carry, and results.
#include "compiler/algorithms/damage/balanced_routes.h"

#include <numeric>

#include <gtest/gtest.h>

#include "ir/verifier/verifier.h"
#include "tests/compiler/algorithms/damaged_topology.h"
#include "tests/compiler/algorithms/rooted_checks.h"
#include "tests/runtime/execution/checked_job.h"

namespace torc::compiler {
namespace {

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
      const ir::VerifyResult result = ir::verify(schedule.view());
      EXPECT_TRUE(result.ok()) << result.faults.front().message;
      for (const runtime::Delivery delivery :
           {runtime::Delivery::kRendezvous, runtime::Delivery::kEager,
            runtime::Delivery::kAdversarial}) {
        CheckedCall call;
        call.count = 5;
        call.delivery = delivery;
        EXPECT_EQ(runChecked(schedule.view(), call), "");
      }
    }
  }
}

}  // namespace
}  // namespace torc::compiler
