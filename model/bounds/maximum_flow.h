// Maximum flow: Dinic, Algorithm for solution of a problem of maximum flow in networks with power
// estimation, Soviet Math. Doklady 11, 1970. Its result here is the cut that limits the flow.
#ifndef TORC_MODEL_BOUNDS_MAXIMUM_FLOW_H_
#define TORC_MODEL_BOUNDS_MAXIMUM_FLOW_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace torc::model {

class MaximumFlow {
 public:
  explicit MaximumFlow(std::uint32_t nodes) : arcs_of_(nodes) {}

  /// An arc from a node to another one; arcs are numbered from 0 on.
  void addArc(std::uint32_t from, std::uint32_t to) {
    arcs_of_[from].push_back(static_cast<std::uint32_t>(arcs_.size()));
    arcs_.push_back({to});
    arcs_of_[to].push_back(static_cast<std::uint32_t>(arcs_.size()));
    arcs_.push_back({from});
  }
  std::size_t arcCount() const { return arcs_.size() / 2; }

  /// The nodes on the source's side of a narrowest cut to the sink, by node. `capacities` of arcs,
  /// by number. Capacities below 1e-12 of the largest finite one count as 0.
  std::vector<bool> sourceSide(std::uint32_t source, std::uint32_t sink,
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

 private:
  static constexpr std::uint32_t kUnreached = std::numeric_limits<std::uint32_t>::max();
  static constexpr double kNothing = 1e-12;

  /// Arcs alternate with their opposites.
  struct Arc {
    std::uint32_t to = 0;
    double left = 0;
  };

  /// Computes the number of arcs from the source to each node; returns whether the sink is reached.
  bool level(std::uint32_t source, std::uint32_t sink) {
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

  /// Its depth is the number of nodes of the network at most.
  double push(std::uint32_t node, std::uint32_t sink, double most) {
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

  std::vector<Arc> arcs_;
  std::vector<std::vector<std::uint32_t>> arcs_of_;  // by node
  std::vector<std::uint32_t> levels_, next_, queue_;
  double least_ = 0;
};

}  // namespace torc::model

#endif  // TORC_MODEL_BOUNDS_MAXIMUM_FLOW_H_
