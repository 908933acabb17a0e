// Computes the narrowest cut of a network: that of the flows from one node to each of the others.
#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include "model/bounds/maximum_flow.h"
#include "model/bounds/network.h"

namespace torc::model {

double minimumCut(const Network& network) {
  std::map<Coordinates, std::uint32_t> index;  // of live nodes
  Coordinates at{};
  const auto& dimensions = network.dimensions();
  for (double i = 0; i < network.nodes(); ++i) {
    if (!network.isDead(at)) index.emplace(at, static_cast<std::uint32_t>(index.size()));
    for (std::size_t k = 0; k < dimensions.size(); ++k) {
      if (++at[k] < static_cast<std::int32_t>(dimensions[k].size)) break;
      at[k] = 0;
    }
  }
  const auto nodes = static_cast<std::uint32_t>(index.size());
  MaximumFlow flow(nodes);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
  std::vector<double> bandwidths;  // of arcs
  for (const auto& [node, from] : index) {
    for (std::uint32_t i = 0; i < dimensions.size(); ++i) {
      Coordinates up = node;
      if (!network.step(up, i, +1)) continue;
      const auto found = index.find(up);
      if (found == index.end() || network.isDead(network.linkFrom(node, i, +1))) continue;
      for (const auto& arc : {std::pair(from, found->second), std::pair(found->second, from)}) {
        flow.addArc(arc.first, arc.second);
        ends.push_back(arc);
        bandwidths.push_back(dimensions[i].bandwidth);
      }
    }
  }
  double narrowest = std::numeric_limits<double>::infinity();
  for (std::uint32_t sink = 1; sink < nodes; ++sink) {
    const std::vector<bool> side = flow.sourceSide(0, sink, bandwidths);
    double cut = 0;
    for (std::size_t arc = 0; arc < ends.size(); ++arc)
      cut += side[ends[arc].first] && !side[ends[arc].second] ? bandwidths[arc] : 0;
    narrowest = std::min(narrowest, cut);
  }
  return narrowest;
}

}  // namespace torc::model
