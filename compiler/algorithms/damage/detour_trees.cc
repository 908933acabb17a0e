// Finds the detours for every root, and the boxes of roots with equal ones.
#include "compiler/algorithms/damage/detour_trees.h"

#include <algorithm>
#include <compare>
#include <map>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include <llvm/ADT/STLExtras.h>

#include "compiler/algorithms/damage/live_graph.h"
#include "compiler/algorithms/damage/node_boxes.h"
#include "compiler/algorithms/trees/arc_steps.h"
#include "compiler/algorithms/trees/product_tree_rule.h"
#include "compiler/algorithms/trees/product_trees.h"
#include "ir/make_error.h"
#include "ir/step_builder.h"
#include "passes/analysis/plan_axes.h"

namespace torc::compiler {
namespace {

constexpr std::uint32_t kLonger = 5;   // hops of a way beyond those of the shortest one
constexpr std::uint32_t kOfShare = 4;  // hops that are as bad as another orphan's share on a link

Topology withoutDamage(Topology topology) {
  topology.dead_node_count = topology.dead_link_count = 0;
  return topology;
}

/// The axis whose blocks are divided among the ways to an orphan.
std::uint32_t longestAxis(const Topology& topology) {
  return *llvm::max_element(passes::networkAxes(topology), [&](auto a, auto b) {
    return topology.axes[a].size < topology.axes[b].size;
  });
}

/// An orphan of a tree, and the arcs of each way to it, from a node that has the tree's part.
struct Need {
  std::uint32_t tree = 0;
  std::uint32_t level = 0;  // more than those of orphans on whose data the ways depend
  std::uint32_t orphan = 0;
  std::vector<std::vector<std::uint32_t>> ways;
  auto operator<=>(const Need&) const = default;
};

/// Finds the needs of one root after another.
class NeedFinder {
 public:
  NeedFinder(const Topology& topology, const LiveGraph& graph)
      : topology_(topology), graph_(graph), rule_(withoutDamage(topology)) {
    for (std::uint32_t node = 0; node < graph.nodes(); ++node) {
      at_.push_back(topology.coordinatesOf(static_cast<std::int32_t>(node)));
      for (const std::uint32_t axis : passes::networkAxes(topology)) {
        for (const int sign : {1, -1}) {
          if (isBroken(at_[node], {axis, sign})) broken_.push_back({node, {axis, sign}});
        }
      }
    }
  }

  /// Calls `add` for each need of the root.
  llvm::Error run(std::uint32_t root, llvm::function_ref<void(const Need&)> add) {
    root_ = at_[root];
    load_.assign(graph_.arcs().size(), 0);
    for (std::uint32_t tree = 0; tree < rule_.trees(); ++tree) {
      repaired_.clear();
      for (const auto& [depth, node] : orphansOf(tree)) {
        Need need{tree, 0, node, {}};
        findWays(need);
        if (need.ways.empty()) return makeError("detour trees: damage cuts the torus in two");
        repaired_[node] = need.level;
        add(need);
      }
    }
    return llvm::Error::success();
  }

 private:
  struct BrokenArc {
    std::uint32_t to = 0;
    TreeHop hop;
  };

  /// Whether no message by `hop` arrives at a live node.
  bool isBroken(const Coordinates& at, const TreeHop& hop) const {
    Coordinates from = at;
    const bool has_one_cable = topology_.axes[hop.axis].hasOneCable();
    const int back = has_one_cable && at[hop.axis] == 0 ? 1 : has_one_cable ? -1 : -hop.sign;
    return !topology_.hasLink(at, hop.axis, back, from);
  }
  void moveUp(Coordinates& at, const TreeHop& hop) const {
    at[hop.axis] = static_cast<std::int32_t>(
        wrap(std::int64_t{at[hop.axis]} - hop.sign, topology_.axes[hop.axis].size));
  }

  /// The orphans of a tree, by their depth.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> orphansOf(std::uint32_t tree) const {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> orphans;
    for (const auto& [node, hop] : broken_) {
      Coordinates at = at_[node];
      if (at == root_ || rule_.into(tree, at, root_) != hop) continue;
      std::uint32_t depth = 0;
      for (; at != root_; ++depth)
        moveUp(at, rule_.into(tree, at, root_));
      orphans.emplace_back(depth, node);
    }
    llvm::sort(orphans);
    return orphans;
  }

  /// The level of needs that may use the data of a node; kNone if it has none yet.
  std::uint32_t levelBehind(std::uint32_t tree, std::uint32_t node) const {
    Coordinates at = at_[node];
    while (at != root_) {
      const TreeHop hop = rule_.into(tree, at, root_);
      if (isBroken(at, hop)) {
        const auto found = repaired_.find(static_cast<std::uint32_t>(topology_.rankOf(at)));
        return found == repaired_.end() ? kNone : found->second + 1;
      }
      moveUp(at, hop);
    }
    return 0;
  }

  /// Adds ways without a common link, the shortest and least loaded first.
  void findWays(Need& need) {
    std::vector<bool> taken(graph_.arcs().size(), false);
    std::uint32_t most = kNone;
    while (need.ways.size() < most_ways_) {
      std::map<std::uint32_t, std::uint32_t> arc_from;  // by node: towards the orphan
      using Entry = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // cost, node, arc
      std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
      queue.push({0, need.orphan, kNone});
      std::vector<std::uint32_t> way;
      while (!queue.empty() && way.empty()) {
        const auto [cost, node, arc] = queue.top();
        queue.pop();
        if (cost > most || !arc_from.try_emplace(node, arc).second) continue;
        const std::uint32_t level = node == need.orphan ? kNone : levelBehind(need.tree, node);
        if (level != kNone) {
          need.level = std::max(need.level, level);
          if (most == kNone) most = cost + kLonger;
          for (std::uint32_t from = node; from != need.orphan; from = graph_.arc(way.back()).to)
            way.push_back(arc_from[from]);
          continue;
        }
        for (const std::uint32_t out : graph_.arcsFrom(node)) {
          const std::uint32_t in = LiveGraph::reverse(out);
          if (!taken[in]) queue.push({cost + 1 + kOfShare * load_[in], graph_.arc(in).from, in});
        }
      }
      if (way.empty()) return;
      for (const std::uint32_t arc : way) {
        taken[arc] = true;
        ++load_[arc];
      }
      need.ways.push_back(std::move(way));
    }
  }

  const Topology& topology_;
  const LiveGraph& graph_;
  const TreeRule rule_;
  // To an orphan: fewer where many roots have dead nodes, which leave more orphans than dead links.
  const std::size_t most_ways_ =
      std::min(topology_.ranks() * topology_.dead_node_count > 100 ? 2u : 3u,
               topology_.axes[longestAxis(topology_)].size);
  std::vector<Coordinates> at_;  // by node
  std::vector<BrokenArc> broken_;
  Coordinates root_{};
  std::map<std::uint32_t, std::uint32_t> repaired_;  // orphans of the tree so far: their levels
  std::vector<std::uint32_t> load_;                  // by arc: ways
};

struct DetourNodes : RootGuards {
  using RootGuards::RootGuards;
  bool mayDrop() const override { return true; }
};

/// The boxes of roots; dead nodes may be among them.
std::vector<Box> rootsOf(const NodeBoxes& sites, std::vector<std::uint32_t> roots,
                         llvm::ArrayRef<std::uint32_t> dead) {
  const auto exact = sites.cover(roots);
  roots.insert(roots.end(), dead.begin(), dead.end());
  const auto more = sites.cover(roots);
  const auto& fewer = more.size() < exact.size() ? more : exact;
  return {fewer.begin(), fewer.end()};
}

/// The detours of each tree.
llvm::Expected<std::vector<Detours>> detoursOf(const Topology& topology, const LiveGraph& graph) {
  std::map<Need, std::vector<std::uint32_t>> roots;  // by site
  NeedFinder finder(topology, graph);
  for (std::uint32_t root = 0; root < graph.nodes(); ++root) {
    const Coordinates at = topology.coordinatesOf(static_cast<std::int32_t>(root));
    const auto site = static_cast<std::uint32_t>(topology.siteOf(at));
    if (llvm::Error error =
            finder.run(root, [&](const Need& need) { roots[need].push_back(site); }))
      return error;
  }
  const Topology whole = withoutDamage(topology);
  const NodeBoxes sites(whole);
  std::vector<std::uint32_t> dead;
  for (const Coordinates& node : topology.deadNodes())
    dead.push_back(static_cast<std::uint32_t>(topology.siteOf(node)));
  std::vector<Detours> detours(TreeRule(whole).trees());
  const std::uint32_t longest = longestAxis(topology);
  const std::size_t length = topology.axes[longest].size;
  for (const auto& [need, of_roots] : roots) {
    for (const Box& box : rootsOf(sites, of_roots, dead)) {
      const RootGuards guards(topology, box);
      const auto at = [&](std::uint32_t node) { return guards.absolute(boxOf(topology, node)); };
      auto& ways = detours[need.tree].emplace_back();
      for (std::size_t i = 0; i < need.ways.size(); ++i) {
        Detour& detour = ways.emplace_back();
        const std::size_t start = length * i / need.ways.size();
        const std::size_t end = length * (i + 1) / need.ways.size();
        detour.blocks[longest] = Interval::absolute(static_cast<std::int32_t>(start),
                                                    static_cast<std::uint32_t>(end - start));
        detour.nodes.push_back(at(graph.arc(need.ways[i].front()).from));
        for (const std::uint32_t arc : need.ways[i]) {
          detour.nodes.push_back(at(graph.arc(arc).to));
          detour.hops.emplace_back(graph.arc(arc).axis, graph.arc(arc).sign);
        }
      }
    }
  }
  return detours;
}

}  // namespace

llvm::Expected<ir::Program> lowerDetourTrees(const CollectiveSpec& spec) {
  const Topology& topology = spec.topology;
  if (!RootGuards::suit(topology)) {
    return makeError("detour-trees: they need something dead, and nodes without cores");
  }
  const LiveGraph graph(topology);
  const DetourNodes nodes(topology);
  llvm::Expected<std::vector<Detours>> detours = detoursOf(topology, graph);
  if (!detours) return detours.takeError();
  Schedule header =
      ir::scheduleHeader(spec.collective, topology, static_cast<std::uint32_t>(detours->size()));
  header.flags |= kDropsBroken;
  ir::StepBuilder builder(std::move(header));
  const TreeRule rule(withoutDamage(topology));
  for (std::uint32_t tree = 0; tree < detours->size(); ++tree) {
    Arcs arcs = rule.arcs(tree);
    for (ArcBoxes& arc : arcs) {
      arc.children = {nodes.fromRoot(arc.children.front())};
      arc.parents = {nodes.fromRoot(arc.parents.front())};
    }
    ArcSteps steps(builder, tree);
    if (rowOf(spec.collective).reduces()) {
      steps.reduce(arcs, nodes, (*detours)[tree]);
    } else {
      steps.broadcast(arcs, nodes, (*detours)[tree]);
    }
  }
  ir::Program program;
  program.schedule = builder.take();
  return program;
}

TreePipeline detourTreesPipeline(const Topology& topology) {
  TreePipeline pipeline = productTreesPipeline(withoutDamage(topology));
  pipeline.hops += 2;
  pipeline.share = 1 / std::max(1.0, 1 / pipeline.share - 1);
  return pipeline;
}

ProgramSize estimateDetourTrees(const CollectiveSpec& spec) {
  ProgramSize size = treesSize(spec, 200.0, 0);
  size.cell_steps = 1e5 * static_cast<double>(spec.topology.ranks());
  return size;
}

}  // namespace torc::compiler
