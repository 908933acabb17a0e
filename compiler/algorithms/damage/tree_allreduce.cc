// Groups the arcs of a tree into as few boxes as possible.
#include "compiler/algorithms/damage/tree_allreduce.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "compiler/algorithms/damage/node_boxes.h"
#include "compiler/algorithms/trees/arc_steps.h"
#include "ir/step_builder.h"

namespace torc::compiler {
namespace {

using Nodes = std::vector<std::uint32_t>;

/// The number of a direction out of a node.
std::uint32_t directionOf(const LiveArc& arc) {
  return 2 * arc.axis + (arc.sign < 0 ? 1 : 0);
}

/// The live nodes of a torus, with sets as few boxes.
class LiveNodes : public ArcNodes {
 public:
  /// `boxes` outlives it.
  LiveNodes(const NodeBoxes& boxes, std::uint32_t root) : boxes_(boxes), root_(root) {}

  Box root() const override { return boxes_.cover(root_).front(); }
  bool isRootApart() const override { return false; }
  std::optional<bool> meet(const Box& a, const Box& b) const override { return boxes_.meet(a, b); }
  std::optional<NodeSet> subtract(const NodeSet& nodes, const NodeSet& others) const override {
    Nodes left;
    std::ranges::set_difference(boxes_.nodesOf(nodes), boxes_.nodesOf(others),
                                std::back_inserter(left));
    return boxes_.cover(left);
  }

 private:
  const NodeBoxes& boxes_;
  const std::uint32_t root_;
};

/// The arcs of a tree by direction, directions with the deepest subtrees first.
Arcs arcsOf(const LiveGraph& graph, const RootedTree& tree, const NodeBoxes& boxes,
            std::uint32_t directions) {
  std::vector<Nodes> children(directions), parents(directions);
  std::vector<std::uint32_t> height(graph.nodes(), 0);
  std::vector<double> heights(directions, 0);
  for (std::size_t i = tree.order.size(); i-- > 1;) {
    const std::uint32_t node = tree.order[i];
    const LiveArc& down = graph.arc(tree.arc_from[node]);
    const std::uint32_t direction = directionOf(down);
    height[down.from] = std::max(height[down.from], height[node] + 1);
    heights[direction] += height[node];
    children[direction].push_back(node);
    parents[direction].push_back(down.from);
  }
  const auto mean = [&](std::uint32_t direction) {
    return heights[direction] / static_cast<double>(children[direction].size());
  };
  std::vector<std::uint32_t> order;
  for (std::uint32_t direction = 0; direction < directions; ++direction) {
    if (!children[direction].empty()) order.push_back(direction);
  }
  std::ranges::stable_sort(order, std::greater{}, mean);
  Arcs arcs;
  for (const std::uint32_t direction : order) {
    arcs.push_back({direction / 2, direction % 2 == 0 ? 1 : -1, boxes.cover(children[direction]),
                    boxes.cover(parents[direction])});
  }
  return arcs;
}

/// A schedule with a color for each tree; blocks have rank order, for they move together.
Schedule header(const CollectiveSpec& spec, llvm::ArrayRef<WeightedTree> trees) {
  const auto colors = static_cast<std::uint32_t>(trees.size());
  Schedule schedule = ir::scheduleHeader(spec.collective, spec.topology, colors);
  for (std::uint32_t i = 0; i < colors; ++i)
    schedule.colors[i].weight = trees[i].weight;
  return schedule;
}

}  // namespace

Schedule treeAllreduce(const CollectiveSpec& spec, const LiveGraph& graph,
                       llvm::ArrayRef<WeightedTree> trees) {
  ir::StepBuilder builder(header(spec, trees));
  if (graph.nodes() == 1) {
    const std::uint32_t whole = builder.box({});
    builder.copy({builder.addStream({0, 0}), kNone}, builder.region(Buffer::kOut, {{0, 1, whole}}),
                 builder.region(Buffer::kIn, {{0, 1, whole}}), {});
    return builder.take();
  }
  const NodeBoxes boxes(spec.topology);
  std::vector<ArcSteps> steps;
  std::vector<LiveNodes> nodes;
  std::vector<Arcs> arcs;
  for (std::uint32_t part = 0; part < trees.size(); ++part) {
    const RootedTree tree = TreeArcs(graph, trees[part].cables).rootedInTheMiddle();
    nodes.emplace_back(boxes, tree.root());
    arcs.push_back(arcsOf(graph, tree, boxes, 2 * spec.topology.axis_count));
    steps.emplace_back(builder, part).allreduceUp(arcs[part], nodes[part]);
  }
  builder.setPhase(1);
  for (std::uint32_t part = 0; part < trees.size(); ++part)
    steps[part].allreduceDown(arcs[part], nodes[part]);
  return builder.take();
}

}  // namespace torc::compiler
