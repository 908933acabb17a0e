// Computes the narrowest cut of a network. Stoer and Wagner, A simple min-cut algorithm, J. ACM 44,
// 1997: order the nodes, each time taking the one with the widest connection to those before; the
// last one's links are the narrowest cut between it and the last but one, which are then merged.
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "model/bounds/network.h"

namespace torc::model {
namespace {

/// Bandwidth between every two live nodes.
std::vector<std::vector<double>> bandwidths(const Network& network) {
  std::map<Coordinates, std::size_t> index;
  Coordinates at{};
  const auto& dimensions = network.dimensions();
  for (double i = 0; i < network.nodes(); ++i) {
    if (!network.isDead(at)) index.emplace(at, index.size());
    for (std::size_t k = 0; k < dimensions.size(); ++k) {
      if (++at[k] < static_cast<std::int32_t>(dimensions[k].size)) break;
      at[k] = 0;
    }
  }
  std::vector<std::vector<double>> joined(index.size(), std::vector<double>(index.size()));
  for (const auto& [node, row] : index) {
    for (std::uint32_t i = 0; i < dimensions.size(); ++i) {
      Coordinates up = node;
      if (!network.step(up, i, +1)) continue;
      const auto found = index.find(up);
      if (found == index.end() || network.isDead(network.linkFrom(node, i, +1))) continue;
      joined[row][found->second] += dimensions[i].bandwidth;
      joined[found->second][row] += dimensions[i].bandwidth;
    }
  }
  return joined;
}

}  // namespace

double minimumCut(const Network& network) {
  std::vector<std::vector<double>> joined = bandwidths(network);
  std::vector<std::size_t> nodes(joined.size());
  std::iota(nodes.begin(), nodes.end(), std::size_t{0});
  double narrowest = std::numeric_limits<double>::infinity();
  while (nodes.size() > 1) {
    std::vector<double> tightness(joined.size());
    std::vector<std::size_t> left = nodes;
    std::size_t last = left.front(), before_last = last;
    while (!left.empty()) {
      const auto tightest = std::max_element(
          left.begin(), left.end(),
          [&](std::size_t a, std::size_t b) { return tightness[a] < tightness[b]; });
      before_last = last;
      last = *tightest;
      left.erase(tightest);
      if (left.empty()) break;
      for (std::size_t other : left)
        tightness[other] += joined[last][other];
    }
    narrowest = std::min(narrowest, tightness[last]);
    for (std::size_t other : nodes) {
      if (other == last || other == before_last) continue;
      joined[before_last][other] += joined[last][other];
      joined[other][before_last] = joined[before_last][other];
    }
    nodes.erase(std::find(nodes.begin(), nodes.end(), last));
  }
  return narrowest;
}

}  // namespace torc::model
