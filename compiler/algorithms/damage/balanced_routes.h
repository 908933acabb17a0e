// Routes of an all-to-all around any damage: one shortest path for every pair of live nodes, such
// that the busiest link carries little more than the average.
//
// A multi-commodity flow with one unit for every pair. Every pair in turn takes the cheapest of its
// shortest paths. The cost of a link rises steeply with its load, so that a busier link is taken
// only if all paths are as busy. Then all pairs choose again, twice. The cost counts the load of a
// link per hop number as well as its total load. Blocks are not split, so that the excess over the
// optimum is a few blocks per link.
#ifndef TORC_COMPILER_ALGORITHMS_DAMAGE_BALANCED_ROUTES_H_
#define TORC_COMPILER_ALGORITHMS_DAMAGE_BALANCED_ROUTES_H_

#include <cstdint>
#include <vector>

#include "compiler/algorithms/damage/live_graph.h"

namespace torc::compiler {

/// The arcs of a path, in their order.
using Route = std::vector<std::uint32_t>;

/// Routes between all nodes of a graph.
struct BalancedRoutes {
  /// [source][destination]; empty from a node to itself.
  std::vector<std::vector<Route>> routes;
  /// Blocks over the busiest link in one direction, divided by its bandwidth; blocks over a mean
  /// link.
  double load = 0, mean_load = 0;
  /// Arcs of the longest route.
  std::uint32_t hops = 0;
};

/// Blocks over a mean link in one direction, divided by its bandwidth, by hop of shortest paths.
std::vector<double> meanLoads(const LiveGraph& graph);

BalancedRoutes balancedRoutes(const LiveGraph& graph);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_DAMAGE_BALANCED_ROUTES_H_
