// Routes of an all-to-all around any damage: for every pair of live nodes one shortest way, such
// that the busiest link carries little more than all links do on average.
//
// A multi-commodity flow with one unit for every pair. Every pair in turn takes the cheapest of its
// shortest ways, where a link costs the more the more others have taken it, steeply, so that a
// busier link is taken only where all ways are as busy; then all choose anew, twice. What a link
// carries as the first hop of routes, as the second, and so on, counts as well as all of it. Blocks
// are not cut, so that what remains above the optimum is a few blocks of a link.
#ifndef TORC_COMPILER_ALGORITHMS_DAMAGE_BALANCED_ROUTES_H_
#define TORC_COMPILER_ALGORITHMS_DAMAGE_BALANCED_ROUTES_H_

#include <cstdint>
#include <vector>

#include "compiler/algorithms/damage/live_graph.h"

namespace torc::compiler {

/// The arcs of a way, in their order.
using Route = std::vector<std::uint32_t>;

/// Routes between all nodes of a graph.
struct BalancedRoutes {
  /// [source][destination]; empty from a node to itself.
  std::vector<std::vector<Route>> routes;
  /// Blocks over the busiest link in one direction, divided by its bandwidth; over a mean one.
  double load = 0, mean_load = 0;
  /// Arcs of the longest route.
  std::uint32_t hops = 0;
};

/// Blocks over a mean link in one direction, divided by its bandwidth, hop by hop of shortest ways.
std::vector<double> meanLoads(const LiveGraph& graph);

BalancedRoutes balancedRoutes(const LiveGraph& graph);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_DAMAGE_BALANCED_ROUTES_H_
