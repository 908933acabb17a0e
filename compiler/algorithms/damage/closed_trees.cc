// Builds the trees by their rule, and the program of an allreduce along them.
#include "compiler/algorithms/damage/closed_trees.h"

#include <algorithm>

#include "compiler/algorithms/damage/tree_repair.h"
#include "ir/make_error.h"
#include "passes/analysis/plan_axes.h"

namespace torc::compiler {
namespace {

using Axes = llvm::SmallVector<std::uint32_t, kMaxAxes>;

/// A dead node, or an end of a dead link.
Coordinates centerOf(const Topology& topology) {
  if (topology.dead_node_count > 0) return topology.deadNodes().front();
  return topology.deadLinks().front().from;
}

/// The live cables of the tree whose colors visit the axes in `order`, in the direction `sign`.
TreeCables closedTree(const Topology& topology, const LiveGraph& graph, const Coordinates& center,
                      llvm::ArrayRef<std::uint32_t> order, int sign) {
  TreeCables cables;
  for (std::uint32_t node = 0; node < graph.nodes(); ++node) {
    const Coordinates at = topology.coordinatesOf(static_cast<std::int32_t>(node));
    if (at == center) continue;
    const auto isAway = [&](std::uint32_t axis) { return at[axis] != center[axis]; };
    std::uint32_t back = order.front();
    if (isAway(back)) back = *std::find_if(order.rbegin(), order.rend(), isAway);
    for (const std::uint32_t arc : graph.arcsFrom(node)) {
      if (graph.arc(arc).axis == back && graph.arc(arc).sign == -sign) {
        cables.push_back(graph.arc(arc).cable);
      }
    }
  }
  return cables;
}

}  // namespace

bool suitsClosedTrees(const Topology& topology) {
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const Axis& axis = topology.axes[i];
    if (axis.size > 1 && !axis.isRing()) return false;
  }
  return topology.isDamaged() && !topology.hasCores();
}

std::vector<WeightedTree> closedTrees(const Topology& topology, const LiveGraph& graph) {
  const Coordinates center = centerOf(topology);
  const Axes axes = passes::networkAxes(topology);
  std::vector<TreeCables> trees;
  for (std::size_t first = 0; first < axes.size(); ++first) {
    Axes order(axes.begin() + first, axes.end());
    order.append(axes.begin(), axes.begin() + first);
    for (const int sign : {1, -1})
      trees.push_back(closedTree(topology, graph, center, order, sign));
  }
  return repairTrees(graph, trees);
}

llvm::Expected<ir::Program> lowerClosedTrees(const CollectiveSpec& spec) {
  if (!suitsClosedTrees(spec.topology)) {
    return makeError("closed trees: they need a ring along every axis, and something dead");
  }
  ir::Program program;
  const LiveGraph graph(spec.topology);
  const std::vector<WeightedTree> trees =
      graph.nodes() > 1 ? closedTrees(spec.topology, graph) : std::vector<WeightedTree>(1);
  program.schedule = treeAllreduce(spec, graph, trees);
  return program;
}

TreePipeline closedTreesPipeline(const Topology& topology) {
  TreePipeline pipeline = rectangularPipeline(topology);
  std::uint32_t shortest = topology.axes[0].size;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (topology.axes[i].size > 1) shortest = std::min(shortest, topology.axes[i].size);
  }
  pipeline.hops = std::max(1.0, pipeline.hops - shortest / 2);
  pipeline.share *= 2;
  return pipeline;
}

ProgramSize estimateClosedTrees(const CollectiveSpec& spec) {
  return treesSize(spec, 2.0 * spec.topology.axis_count, 400);
}

}  // namespace torc::compiler
