#include "compiler/algorithms/damage/rooted_tree.h"

#include "schedules/schedule.h"

namespace torc::compiler {

TreeArcs::TreeArcs(const LiveGraph& graph, const TreeCables& cables)
    : graph_(graph), first_(graph.nodes() + 1, 0), arcs_(2 * cables.size()) {
  for (const std::uint32_t cable : cables) {
    ++first_[graph.arc(2 * cable).from + 1];
    ++first_[graph.arc(2 * cable).to + 1];
  }
  for (std::uint32_t node = 0; node < graph.nodes(); ++node)
    first_[node + 1] += first_[node];
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  for (const std::uint32_t cable : cables) {
    for (const std::uint32_t arc : {2 * cable, 2 * cable + 1})
      arcs_[next[graph.arc(arc).from]++] = arc;
  }
}

RootedTree TreeArcs::rootedAt(std::uint32_t root) const {
  RootedTree tree;
  tree.order = {root};
  tree.arc_from.assign(graph_.nodes(), kNone);
  for (std::size_t i = 0; i < tree.order.size(); ++i) {
    const std::uint32_t node = tree.order[i];
    for (std::uint32_t k = first_[node]; k < first_[node + 1]; ++k) {
      const std::uint32_t arc = arcs_[k], child = graph_.arc(arc).to;
      if (tree.arc_from[node] == LiveGraph::reverse(arc)) continue;
      tree.arc_from[child] = arc;
      tree.order.push_back(child);
    }
  }
  return tree;
}

RootedTree TreeArcs::rootedInTheMiddle(std::uint32_t node) const {
  const std::uint32_t one_end = rootedAt(node).order.back();
  const RootedTree from_end = rootedAt(one_end);
  std::vector<std::uint32_t> way{from_end.order.back()};
  while (way.back() != one_end)
    way.push_back(graph_.arc(from_end.arc_from[way.back()]).from);
  return rootedAt(way[way.size() / 2]);
}

void addDepths(const LiveGraph& graph, const RootedTree& tree, std::vector<std::uint32_t>& depth) {
  depth[tree.root()] = 0;
  for (const std::uint32_t node : tree.order) {
    if (node != tree.root()) depth[node] = depth[graph.arc(tree.arc_from[node]).from] + 1;
  }
}

}  // namespace torc::compiler
