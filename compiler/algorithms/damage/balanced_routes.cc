#include "compiler/algorithms/damage/balanced_routes.h"

#include <algorithm>

#include <llvm/ADT/STLExtras.h>

namespace torc::compiler {
namespace {

using Distances = std::vector<std::vector<std::uint32_t>>;

Distances distancesOf(const LiveGraph& graph) {
  Distances distances;
  for (std::uint32_t node = 0; node < graph.nodes(); ++node)
    distances.push_back(graph.distancesFrom(node));
  return distances;
}

/// Blocks over a mean link, divided by its bandwidth, by step.
std::vector<double> meanLoads(const LiveGraph& graph, const Distances& distances) {
  double bandwidth = 0;
  for (const LiveArc& arc : graph.arcs())
    bandwidth += arc.network ? arc.bandwidth : 0;
  std::vector<double> loads;
  for (const auto& row : distances) {
    for (const std::uint32_t distance : row) {
      loads.resize(std::max<std::size_t>(loads.size(), distance), 0);
      for (std::uint32_t hop = 0; hop < distance; ++hop)
        loads[hop] += bandwidth > 0 ? 1 / bandwidth : 0;
    }
  }
  return loads;
}

class Balancer {
 public:
  explicit Balancer(const LiveGraph& graph)
      : graph_(graph), distance_(distancesOf(graph)), reached_(graph.nodes()) {
    const Loads none(graph.arcs().size(), 0);
    whole_.load = none;
    for (const double mean : meanLoads(graph, distance_)) {
      steps_.push_back({mean, none});
      whole_.mean += mean;
    }
  }

  BalancedRoutes run() {
    BalancedRoutes chosen;
    chosen.routes.assign(graph_.nodes(), std::vector<Route>(graph_.nodes()));
    for (unsigned round = 0; round < kRounds; ++round) {
      // Consecutive pairs have different sources.
      for (std::uint32_t ahead = 1; ahead < graph_.nodes(); ++ahead) {
        for (std::uint32_t source = 0; source < graph_.nodes(); ++source)
          choose(source, (source + ahead) % graph_.nodes(), chosen);
      }
    }
    chosen.mean_load = whole_.mean;
    for (std::uint32_t arc = 0; arc < whole_.load.size(); ++arc)
      chosen.load = std::max(chosen.load, relative(whole_, arc, whole_.load[arc]) * whole_.mean);
    chosen.hops = static_cast<std::uint32_t>(steps_.size());
    return chosen;
  }

 private:
  static constexpr unsigned kRounds = 3;

  struct Reached {
    double cost = 0;
    std::uint32_t arc = 0;  // the last on the cheapest path to the node
  };

  using Loads = std::vector<std::uint32_t>;  // blocks, by arc
  /// Loads of links in one step, or in all.
  struct Traffic {
    double mean = 0;  // blocks over a mean link
    Loads load;
  };

  /// Time of `load` blocks on an arc, relative to a mean link's time.
  double relative(const Traffic& traffic, std::uint32_t arc, std::uint32_t load) const {
    const LiveArc& link = graph_.arc(arc);
    return link.network ? load / (link.bandwidth * traffic.mean) : 0;
  }
  /// The 16th power of its time with one more block; multiplied out, for the same routes on every
  /// machine.
  double steep(const Traffic& traffic, std::uint32_t arc) const {
    double power = relative(traffic, arc, traffic.load[arc] + 1);
    for (int i = 0; i < 4; ++i)
      power *= power;
    return power;
  }
  /// Cost of one more block over an arc, as its hop number `hop`. The total load of links has a
  /// higher weight: the steps of several segments overlap.
  double cost(std::size_t hop, std::uint32_t arc) const {
    return 4 * steep(whole_, arc) + steep(steps_[hop], arc);
  }

  void choose(std::uint32_t source, std::uint32_t destination, BalancedRoutes& chosen) {
    Route& route = chosen.routes[source][destination];
    const auto count = [&](std::uint32_t blocks) {
      for (std::size_t hop = 0; hop < route.size(); ++hop) {
        whole_.load[route[hop]] += blocks;
        steps_[hop].load[route[hop]] += blocks;
      }
    };
    count(-1u);
    route = cheapest(source, destination);
    count(1);
  }

  /// The cheapest shortest path, hop by hop from the source.
  Route cheapest(std::uint32_t source, std::uint32_t destination) {
    const std::vector<std::uint32_t>& left = distance_[destination];
    const std::uint32_t hops = left[source];
    std::vector<std::uint32_t> layer{source}, next;
    reached_[source] = {};
    for (std::uint32_t hop = 1; hop <= hops; ++hop) {
      next.clear();
      for (const std::uint32_t node : layer) {
        for (const std::uint32_t arc : graph_.arcsFrom(node)) {
          const std::uint32_t to = graph_.arc(arc).to;
          if (left[to] != hops - hop) continue;
          const Reached here{reached_[node].cost + cost(hop - 1, arc), arc};
          if (!llvm::is_contained(next, to)) {
            next.push_back(to);
            reached_[to] = here;
          } else if (here.cost < reached_[to].cost) {
            reached_[to] = here;
          }
        }
      }
      layer.swap(next);
    }
    Route route(hops);
    for (std::uint32_t hop = hops, node = destination; hop > 0; --hop) {
      route[hop - 1] = reached_[node].arc;
      node = graph_.arc(route[hop - 1]).from;
    }
    return route;
  }

  const LiveGraph& graph_;
  const Distances distance_;
  Traffic whole_;
  std::vector<Traffic> steps_;    // by hop
  std::vector<Reached> reached_;  // by node, of the current route
};

}  // namespace

std::vector<double> meanLoads(const LiveGraph& graph) {
  return meanLoads(graph, distancesOf(graph));
}

BalancedRoutes balancedRoutes(const LiveGraph& graph) {
  return Balancer(graph).run();
}

}  // namespace torc::compiler
