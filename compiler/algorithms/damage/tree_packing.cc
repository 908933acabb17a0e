// Packs spanning trees by matroid union on graphic matroids.
#include "compiler/algorithms/damage/tree_packing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace torc::compiler {
namespace {

constexpr std::uint32_t kTriedNodes = 8192;  // over all attempts for shallow trees
constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

class ForestUnion {
 public:
  ForestUnion(const LiveGraph& graph, llvm::ArrayRef<std::uint32_t> copies, std::uint32_t count,
              std::uint32_t seed)
      : graph_(graph), random_(seed), forests_(count), edges_of_(graph.nodes()) {
    for (std::uint32_t cable = 0; cable < graph.cables(); ++cable) {
      const LiveArc& arc = graph.arc(2 * cable);
      for (std::uint32_t copy = 0; copy < copies[cable]; ++copy) {
        edges_of_[arc.from].push_back(static_cast<std::uint32_t>(edges_.size()));
        edges_of_[arc.to].push_back(static_cast<std::uint32_t>(edges_.size()));
        edges_.push_back({arc.from, arc.to, cable, kNowhere});
      }
    }
    for (Forest& forest : forests_)
      forest.edges_of.resize(graph.nodes());
    if (seed == 0) return;
    for (std::vector<std::uint32_t>& edges : edges_of_) {
      for (std::size_t i = edges.size(); i > 1; --i)
        std::swap(edges[i - 1], edges[random_() % i]);
    }
  }

  bool run() {
    grow();
    for (std::uint32_t i = 0; i < forests_.size(); ++i)
      root(i);
    std::uint64_t placed = 0;
    for (const Edge& edge : edges_)
      placed += edge.forest != kNowhere;
    const std::uint64_t wanted = std::uint64_t{graph_.nodes() - 1} * forests_.size();
    // An edge that no chain of exchanges admits now is never admitted: one pass is enough.
    for (std::uint32_t edge = 0; edge < edges_.size() && placed < wanted; ++edge) {
      if (edges_[edge].forest == kNowhere && admit(edge)) ++placed;
    }
    return placed == wanted;
  }

  std::vector<TreeCables> trees() const {
    std::vector<TreeCables> trees(forests_.size());
    for (const Edge& edge : edges_) {
      if (edge.forest != kNowhere) trees[edge.forest].push_back(edge.cable);
    }
    return trees;
  }

 private:
  struct Edge {
    std::uint32_t a, b;  // nodes
    std::uint32_t cable;
    std::uint32_t forest;
  };
  struct Forest {
    std::vector<std::vector<std::uint32_t>> edges_of;     // by node
    std::vector<std::uint32_t> parent_edge, depth, tree;  // by node
  };

  std::uint32_t other(std::uint32_t edge, std::uint32_t node) const {
    return edges_[edge].a == node ? edges_[edge].b : edges_[edge].a;
  }

  /// Starts with shallow trees: all grow at the same time, breadth first, from nodes far apart.
  void grow() {
    struct Growth {
      std::vector<std::uint32_t> queue;
      std::size_t next = 0;  // index into the queue
      std::vector<bool> inside;
    };
    std::vector<Growth> growths(forests_.size());
    for (std::size_t i = 0; i < growths.size(); ++i) {
      const std::uint32_t from = random_() % graph_.nodes();
      const auto start =
          static_cast<std::uint32_t>((from + i * graph_.nodes() / growths.size()) % graph_.nodes());
      growths[i].queue = {start};
      growths[i].inside.assign(graph_.nodes(), false);
      growths[i].inside[start] = true;
    }
    for (bool grown = true; grown;) {
      grown = false;
      for (std::uint32_t i = 0; i < growths.size(); ++i) {
        Growth& growth = growths[i];
        const std::uint32_t edge = nextEdge(growth.queue, growth.next, growth.inside);
        if (edge == kNowhere) continue;
        const std::uint32_t a = edges_[edge].a, b = edges_[edge].b;
        const std::uint32_t node = growth.inside[a] ? b : a;
        growth.inside[node] = true;
        growth.queue.push_back(node);
        place(edge, i);
        grown = true;
      }
    }
  }

  std::uint32_t nextEdge(const std::vector<std::uint32_t>& queue, std::size_t& next,
                         const std::vector<bool>& inside) const {
    for (; next < queue.size(); ++next) {
      for (const std::uint32_t edge : edges_of_[queue[next]]) {
        if (edges_[edge].forest == kNowhere && !inside[other(edge, queue[next])]) return edge;
      }
    }
    return kNowhere;
  }

  void place(std::uint32_t edge, std::uint32_t forest) {
    Edge& it = edges_[edge];
    for (const std::uint32_t node : {it.a, it.b}) {
      if (it.forest != kNowhere) std::erase(forests_[it.forest].edges_of[node], edge);
      forests_[forest].edges_of[node].push_back(edge);
    }
    it.forest = forest;
  }

  /// Recomputes parents, depths and trees of a forest.
  void root(std::uint32_t index) {
    Forest& forest = forests_[index];
    forest.parent_edge.assign(graph_.nodes(), kNowhere);
    forest.depth.assign(graph_.nodes(), 0);
    forest.tree.assign(graph_.nodes(), kNowhere);
    std::vector<std::uint32_t> stack;
    for (std::uint32_t start = 0; start < graph_.nodes(); ++start) {
      if (forest.tree[start] != kNowhere) continue;
      forest.tree[start] = start;
      stack.push_back(start);
      while (!stack.empty()) {
        const std::uint32_t node = stack.back();
        stack.pop_back();
        for (const std::uint32_t edge : forest.edges_of[node]) {
          const std::uint32_t next = other(edge, node);
          if (forest.tree[next] != kNowhere) continue;
          forest.tree[next] = start;
          forest.parent_edge[next] = edge;
          forest.depth[next] = forest.depth[node] + 1;
          stack.push_back(next);
        }
      }
    }
  }

  /// Adds an edge to the union if some chain of exchanges makes room for it. It replaces an edge of
  /// a cycle that it closes in a forest. That edge replaces one of another forest, and so on, until
  /// an edge joins two trees of a forest. Breadth first, for only shortest chains are sound.
  bool admit(std::uint32_t start) {
    std::vector<std::uint32_t> pushed_by(edges_.size(), kNowhere);
    std::vector<std::uint32_t> queue{start};
    pushed_by[start] = start;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const std::uint32_t edge = queue[i];
      for (std::uint32_t f = 0; f < forests_.size(); ++f) {
        if (edges_[edge].forest == f) continue;
        const Forest& forest = forests_[f];
        std::uint32_t a = edges_[edge].a, b = edges_[edge].b;
        if (forest.tree[a] != forest.tree[b]) {
          exchange(start, edge, f, pushed_by);
          return true;
        }
        while (a != b) {  // up to the common ancestor
          std::uint32_t& deeper = forest.depth[a] < forest.depth[b] ? b : a;
          const std::uint32_t up = forest.parent_edge[deeper];
          deeper = other(up, deeper);
          if (pushed_by[up] != kNowhere) continue;
          pushed_by[up] = edge;
          queue.push_back(up);
        }
      }
    }
    return false;
  }

  void exchange(std::uint32_t start, std::uint32_t edge, std::uint32_t forest,
                llvm::ArrayRef<std::uint32_t> pushed_by) {
    std::vector<bool> changed(forests_.size(), false);
    while (true) {
      const std::uint32_t left = edges_[edge].forest;
      place(edge, forest);
      changed[forest] = true;
      if (edge == start) break;
      edge = pushed_by[edge];
      forest = left;
    }
    for (std::uint32_t i = 0; i < forests_.size(); ++i) {
      if (changed[i]) root(i);
    }
  }

  const LiveGraph& graph_;
  std::minstd_rand random_;  // equal numbers on all machines
  std::vector<Edge> edges_;
  std::vector<Forest> forests_;
  std::vector<std::vector<std::uint32_t>> edges_of_;  // by node
};

/// Copies of every cable; `between_cores` is large enough for cables between cores.
std::vector<std::uint32_t> copiesOf(const LiveGraph& graph, std::uint32_t per_bandwidth,
                                    std::uint32_t between_cores) {
  std::vector<std::uint32_t> copies;
  for (std::uint32_t cable = 0; cable < graph.cables(); ++cable) {
    const LiveArc& arc = graph.arc(2 * cable);
    const auto exact = static_cast<std::uint32_t>(std::lround(per_bandwidth * arc.bandwidth));
    copies.push_back(arc.network ? std::max(1u, exact) : between_cores);
  }
  return copies;
}

/// An upper bound of the number of trees: by copies, with the cores of a node as one part; without
/// cores, also by the copies at every node.
std::uint32_t mostTrees(const LiveGraph& graph, std::uint32_t per_bandwidth) {
  const std::vector<std::uint32_t> copies = copiesOf(graph, per_bandwidth, 0);
  std::uint64_t all = 0;
  std::uint32_t parts = graph.nodes();
  std::vector<std::uint64_t> at(graph.nodes(), 0);
  for (std::uint32_t cable = 0; cable < graph.cables(); ++cable) {
    const LiveArc& arc = graph.arc(2 * cable);
    all += copies[cable];
    at[arc.from] += copies[cable];
    at[arc.to] += copies[cable];
    if (!arc.network) --parts;
  }
  if (parts == 1) return 1;
  std::uint64_t most = all / (parts - 1);
  if (parts == graph.nodes()) most = std::min(most, *std::ranges::min_element(at));
  return static_cast<std::uint32_t>(most);
}

double loadOf(const LiveGraph& graph, const std::vector<TreeCables>& trees) {
  std::vector<double> uses(graph.cables(), 0);
  for (const TreeCables& tree : trees) {
    for (const std::uint32_t cable : tree)
      uses[cable] += 1.0 / static_cast<double>(trees.size());
  }
  double load = 0;
  for (std::uint32_t cable = 0; cable < graph.cables(); ++cable) {
    const LiveArc& arc = graph.arc(2 * cable);
    if (arc.network) load = std::max(load, uses[cable] / arc.bandwidth);
  }
  return load;
}

}  // namespace

std::optional<std::vector<TreeCables>> packTrees(const LiveGraph& graph,
                                                 llvm::ArrayRef<std::uint32_t> copies,
                                                 std::uint32_t count, std::uint32_t seed) {
  ForestUnion forests(graph, copies, count, seed);
  if (!forests.run()) return std::nullopt;
  return forests.trees();
}

std::uint32_t longestWay(const LiveGraph& graph, const TreeCables& tree) {
  // The node farthest from any node is an end of a longest path.
  const TreeArcs arcs(graph, tree);
  const RootedTree from_end = arcs.rootedAt(arcs.rootedAt(0).order.back());
  std::vector<std::uint32_t> depth(graph.nodes(), 0);
  addDepths(graph, from_end, depth);
  return depth[from_end.order.back()] + 1;
}

TreePacking bestPacking(const LiveGraph& graph) {
  std::vector<TreePacking> packings;
  std::vector<std::uint32_t> copies;  // per unit of bandwidth, for each packing
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t per_bandwidth = 1; per_bandwidth <= kMostCopies; ++per_bandwidth) {
    for (std::uint32_t count = mostTrees(graph, per_bandwidth); count > 0; --count) {
      auto trees = packTrees(graph, copiesOf(graph, per_bandwidth, count), count);
      if (!trees) continue;
      const double load = loadOf(graph, *trees);
      packings.push_back({std::move(*trees), load});
      copies.push_back(per_bandwidth);
      least = std::min(least, load);
      break;
    }
  }
  std::size_t chosen = packings.size();
  for (std::size_t i = 0; i < packings.size(); ++i) {
    if (packings[i].load > 1.02 * least) continue;
    if (chosen == packings.size() || packings[i].trees.size() < packings[chosen].trees.size()) {
      chosen = i;
    }
  }

  TreePacking best = std::move(packings[chosen]);
  auto deepest = [&](const std::vector<TreeCables>& trees) {
    std::uint32_t nodes = 0;
    for (const TreeCables& tree : trees)
      nodes = std::max(nodes, longestWay(graph, tree));
    return nodes;
  };
  const auto count = static_cast<std::uint32_t>(best.trees.size());
  const std::vector<std::uint32_t> limit = copiesOf(graph, copies[chosen], count);
  const std::uint32_t seeds = kTriedNodes / graph.nodes();
  std::uint32_t depth = deepest(best.trees);
  for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
    auto trees = packTrees(graph, limit, count, seed);
    const std::uint32_t found = deepest(*trees);  // every seed gives this number of trees
    if (found >= depth || loadOf(graph, *trees) > best.load * (1 + 1e-9)) continue;
    depth = found;
    best.trees = std::move(*trees);
  }
  return best;
}

}  // namespace torc::compiler
