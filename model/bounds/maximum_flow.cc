// Dinic's algorithm: flows along shortest ways, all of one length at a time.
#include "model/bounds/maximum_flow.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace torc::model {
namespace {

constexpr std::uint32_t kUnreached = std::numeric_limits<std::uint32_t>::max();
constexpr double kNothing = 1e-12;

}  // namespace

void MaximumFlow::addArc(std::uint32_t from, std::uint32_t to) {
  arcs_of_[from].push_back(static_cast<std::uint32_t>(arcs_.size()));
  arcs_.push_back({to});
  arcs_of_[to].push_back(static_cast<std::uint32_t>(arcs_.size()));
  arcs_.push_back({from});
}

std::vector<bool> MaximumFlow::sourceSide(std::uint32_t source, std::uint32_t sink,
                                          const std::vector<double>& capacities) {
  least_ = 0;
  for (std::size_t arc = 0; arc < capacities.size(); ++arc) {
    arcs_[2 * arc].left = capacities[arc];
    arcs_[2 * arc + 1].left = 0;
    if (std::isfinite(capacities[arc])) least_ = std::max(least_, capacities[arc] * kNothing);
  }
  while (level(source, sink)) {
    next_.assign(arcs_of_.size(), 0);
    while (push(source, sink, std::numeric_limits<double>::infinity()) > 0) {
    }
  }
  std::vector<bool> side(arcs_of_.size());
  for (std::size_t node = 0; node < side.size(); ++node)
    side[node] = levels_[node] != kUnreached;
  return side;
}

/// How many arcs each node is from the source; whether the sink is reached.
bool MaximumFlow::level(std::uint32_t source, std::uint32_t sink) {
  levels_.assign(arcs_of_.size(), kUnreached);
  levels_[source] = 0;
  queue_.assign(1, source);
  for (std::size_t done = 0; done < queue_.size(); ++done) {
    const std::uint32_t node = queue_[done];
    for (const std::uint32_t index : arcs_of_[node]) {
      const Arc& arc = arcs_[index];
      if (arc.left <= least_ || levels_[arc.to] != kUnreached) continue;
      levels_[arc.to] = levels_[node] + 1;
      queue_.push_back(arc.to);
    }
  }
  return levels_[sink] != kUnreached;
}

/// As deep as the network has nodes at most.
double MaximumFlow::push(std::uint32_t node, std::uint32_t sink, double most) {
  if (node == sink) return most;
  for (; next_[node] < arcs_of_[node].size(); ++next_[node]) {
    const std::uint32_t index = arcs_of_[node][next_[node]];
    const std::uint32_t to = arcs_[index].to;
    if (arcs_[index].left <= least_ || levels_[to] != levels_[node] + 1) continue;
    const double pushed = push(to, sink, std::min(most, arcs_[index].left));
    if (pushed <= 0) continue;
    arcs_[index].left -= pushed;
    arcs_[index ^ 1].left += pushed;
    return pushed;
  }
  return 0;
}

}  // namespace torc::model
