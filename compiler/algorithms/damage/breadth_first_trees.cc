// Chooses shortest paths: for every node, the link that brings each block.
#include "compiler/algorithms/damage/breadth_first_trees.h"

#include <algorithm>
#include <limits>

namespace torc::compiler {
namespace {

using Nodes = std::vector<std::uint32_t>;

/// Distributes the blocks that one node receives from one distance over arcs, so that the largest
/// load over bandwidth is small. Each block takes the least loaded of its possible arcs. Then
/// blocks move to other arcs along a chain of choices if this lowers the largest load. Of equal
/// arcs a block takes the one with the least load from smaller distances.
class Spread {
 public:
  Spread(llvm::ArrayRef<double> bandwidths, llvm::ArrayRef<double> carried)
      : bandwidths_(bandwidths), carried_(carried), items_of_(bandwidths.size()) {}

  void add(std::vector<std::uint32_t> choices) {
    const auto item = static_cast<std::uint32_t>(choices_.size());
    const std::uint32_t best = *std::ranges::min_element(
        choices, {}, [&](std::uint32_t arc) { return std::pair(costWith(arc), carried_[arc]); });
    choices_.push_back(std::move(choices));
    chosen_.push_back(best);
    items_of_[best].push_back(item);
  }

  void balance() {
    while (relieveBusiest()) {
    }
  }

  std::uint32_t chosen(std::uint32_t item) const { return chosen_[item]; }
  /// Blocks of an arc over its bandwidth.
  double cost(std::uint32_t arc) const {
    return static_cast<double>(items_of_[arc].size()) / bandwidths_[arc];
  }

 private:
  double costWith(std::uint32_t arc) const {
    return static_cast<double>(items_of_[arc].size() + 1) / bandwidths_[arc];
  }

  /// Moves blocks along a shortest chain of arcs from the busiest arc to one that stays below it.
  bool relieveBusiest() {
    std::uint32_t busiest = 0;
    for (std::uint32_t arc = 1; arc < items_of_.size(); ++arc) {
      if (cost(arc) > cost(busiest)) busiest = arc;
    }
    constexpr std::uint32_t kUnseen = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> moved(items_of_.size(), kUnseen);  // block that moves to an arc
    std::vector<std::uint32_t> queue{busiest};
    for (std::size_t i = 0; i < queue.size(); ++i) {
      for (const std::uint32_t item : items_of_[queue[i]]) {
        for (const std::uint32_t arc : choices_[item]) {
          if (arc == busiest || moved[arc] != kUnseen) continue;
          moved[arc] = item;
          if (costWith(arc) < cost(busiest)) {
            moveBack(arc, busiest, moved);
            return true;
          }
          queue.push_back(arc);
        }
      }
    }
    return false;
  }

  void moveBack(std::uint32_t arc, std::uint32_t busiest, const std::vector<std::uint32_t>& moved) {
    while (arc != busiest) {
      const std::uint32_t item = moved[arc];
      const std::uint32_t before = chosen_[item];
      std::erase(items_of_[before], item);
      items_of_[arc].push_back(item);
      chosen_[item] = arc;
      arc = before;
    }
  }

  const llvm::ArrayRef<double> bandwidths_, carried_;  // by arc
  std::vector<std::vector<std::uint32_t>> items_of_;   // by arc
  std::vector<std::vector<std::uint32_t>> choices_;    // by item
  std::vector<std::uint32_t> chosen_;                  // by item
};

BreadthFirstTrees treesInParts(const LiveGraph& graph, std::uint32_t parts,
                               std::vector<std::vector<std::uint32_t>> distance) {
  const std::uint32_t nodes = graph.nodes();
  BreadthFirstTrees trees;
  trees.parts = parts;
  trees.distance = std::move(distance);
  trees.arc_to.assign(parts, {nodes, std::vector<std::uint32_t>(nodes, kNone)});
  for (std::uint32_t node = 0; node < nodes; ++node) {
    std::vector<std::uint32_t> arcs;  // to the node
    std::vector<double> bandwidths;
    for (const std::uint32_t leaving : graph.arcsFrom(node)) {
      arcs.push_back(LiveGraph::reverse(leaving));
      const LiveArc& arc = graph.arc(arcs.back());
      bandwidths.push_back(arc.network ? arc.bandwidth : std::numeric_limits<double>::infinity());
    }
    std::vector<Nodes> at_distance;
    for (std::uint32_t source = 0; source < nodes; ++source) {
      const std::uint32_t hops = trees.distance[source][node];
      if (hops >= at_distance.size()) at_distance.resize(hops + 1);
      at_distance[hops].push_back(source);
    }
    std::vector<double> carried(arcs.size(), 0);
    for (std::uint32_t hops = 1; hops < at_distance.size(); ++hops) {
      Spread spread(bandwidths, carried);
      for (const std::uint32_t source : at_distance[hops]) {
        std::vector<std::uint32_t> choices;
        for (std::uint32_t i = 0; i < arcs.size(); ++i) {
          if (trees.distance[source][graph.arc(arcs[i]).from] + 1 == hops) choices.push_back(i);
        }
        for (std::uint32_t part = 0; part < parts; ++part)
          spread.add(choices);
      }
      spread.balance();
      std::uint32_t item = 0;
      for (const std::uint32_t source : at_distance[hops]) {
        for (std::uint32_t part = 0; part < parts; ++part)
          trees.arc_to[part][source][node] = arcs[spread.chosen(item++)];
      }
      for (std::uint32_t i = 0; i < arcs.size(); ++i)
        carried[i] += spread.cost(i);
    }
    trees.load = std::max(trees.load, *std::ranges::max_element(carried) / parts);
  }
  return trees;
}

}  // namespace

BreadthFirstTrees balancedTrees(const LiveGraph& graph) {
  std::vector<std::vector<std::uint32_t>> distance;
  for (std::uint32_t node = 0; node < graph.nodes(); ++node)
    distance.push_back(graph.distancesFrom(node));
  std::vector<BreadthFirstTrees> found;
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t parts = 1; parts <= kMostTreeParts; ++parts) {
    found.push_back(treesInParts(graph, parts, distance));
    least = std::min(least, found.back().load);
  }
  const auto best = std::ranges::find_if(
      found, [&](const BreadthFirstTrees& trees) { return trees.load <= 1.02 * least; });
  return std::move(*best);
}

}  // namespace torc::compiler
