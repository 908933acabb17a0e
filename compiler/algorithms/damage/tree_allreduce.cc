// Roles of nodes in a tree, and the operations of each.
#include "compiler/algorithms/damage/tree_allreduce.h"

#include <algorithm>
#include <numeric>

#include <llvm/ADT/SmallVector.h>

#include "compiler/algorithms/damage/node_boxes.h"
#include "ir/step_builder.h"

namespace torc::compiler {
namespace {

using Nodes = std::vector<std::uint32_t>;

/// A direction out of a node, by its number.
std::uint32_t directionOf(const LiveArc& arc) {
  return 2 * arc.axis + (arc.sign < 0 ? 1 : 0);
}
Shift shiftTo(std::uint32_t direction) {
  return ir::hop(direction / 2, direction % 2 == 0 ? 1 : -1);
}
std::uint32_t opposite(std::uint32_t direction) {
  return direction ^ 1;
}

/// Who does what in a tree; by the direction of the parent or the child.
struct Roles {
  explicit Roles(std::uint32_t directions)
      : leaves(directions),
        inner(directions),
        below(directions),
        parents(directions),
        first(directions),
        later(directions) {}

  std::vector<Nodes> leaves, inner;  // with and without children, that have a parent
  std::vector<Nodes> below;          // both
  std::vector<Nodes> parents;        // that have a child
  std::vector<Nodes> first, later;   // whose first child it is, and a later one
  std::vector<std::uint32_t> turns;  // directions as the children's sums are added
};

Roles rolesIn(const LiveGraph& graph, const RootedTree& tree, std::uint32_t directions) {
  Roles roles(directions);
  std::vector<std::uint32_t> height(graph.nodes(), 0), children(graph.nodes(), 0);  // bits
  std::vector<double> heights(directions, 0), count(directions, 0);
  for (std::size_t i = tree.order.size(); i-- > 1;) {
    const std::uint32_t node = tree.order[i];
    const LiveArc& down = graph.arc(tree.arc_from[node]);
    const std::uint32_t direction = directionOf(down);
    height[down.from] = std::max(height[down.from], height[node] + 1);
    children[down.from] |= 1u << direction;
    heights[direction] += height[node];
    ++count[direction];
  }
  roles.turns.resize(directions);
  std::iota(roles.turns.begin(), roles.turns.end(), 0);
  std::stable_sort(roles.turns.begin(), roles.turns.end(), [&](std::uint32_t a, std::uint32_t b) {
    return heights[a] * std::max(count[b], 1.0) < heights[b] * std::max(count[a], 1.0);
  });
  for (const std::uint32_t node : tree.order) {
    bool has_first = false;
    for (const std::uint32_t direction : roles.turns) {
      if ((children[node] >> direction & 1) == 0) continue;
      roles.parents[direction].push_back(node);
      (has_first ? roles.later : roles.first)[direction].push_back(node);
      has_first = true;
    }
    if (node == tree.root()) continue;
    const std::uint32_t up = opposite(directionOf(graph.arc(tree.arc_from[node])));
    (has_first ? roles.inner : roles.leaves)[up].push_back(node);
    roles.below[up].push_back(node);
  }
  return roles;
}

/// One part of the vector, on one tree.
class TreeSteps {
 public:
  TreeSteps(ir::StepBuilder& builder, const NodeBoxes& boxes, const LiveGraph& graph,
            const RootedTree& tree, std::uint32_t part)
      : builder_(builder),
        boxes_(boxes),
        part_(part),
        stream_(builder.addStream({part, 0})),
        root_(boxes.cover(tree.root()).front()),
        roles_(rolesIn(graph, tree,
                       2 * static_cast<std::uint32_t>(builder.schedule().topology.axis_count))),
        in_(data(Buffer::kIn)),
        out_(data(Buffer::kOut)) {}

  void reduceToRoot();
  void broadcastFromRoot();

 private:
  /// Operations on the nodes of boxes.
  struct Step {
    Box box;
    std::uint32_t operation = 0;
  };
  using Steps = std::vector<Step>;
  using After = llvm::SmallVector<std::uint32_t, 8>;

  Region data(Buffer buffer) { return builder_.region(buffer, {{part_, 1, builder_.box({})}}); }
  ir::StepPlace place(const Box& box) { return {stream_, builder_.box(box)}; }
  /// Those of `steps` that some node of `box` executes.
  void addMeeting(const Steps& steps, const Box& box, After& after) const {
    for (const Step& step : steps) {
      if (boxes_.meet(step.box, box)) after.push_back(step.operation);
    }
  }
  After meeting(const Steps& steps, const Box& box) const {
    After after;
    addMeeting(steps, box, after);
    return after;
  }

  ir::StepBuilder& builder_;
  const NodeBoxes& boxes_;
  const std::uint32_t part_, stream_;
  const Box root_;
  const Roles roles_;
  const Region in_, out_;
  Steps sums_, sent_;
};

void TreeSteps::reduceToRoot() {
  for (const std::uint32_t direction : roles_.turns) {
    if (roles_.parents[direction].empty()) continue;
    const Shift moves = shiftTo(opposite(direction));
    const auto slot = static_cast<std::uint32_t>(builder_.schedule().frames.size());
    const std::uint32_t frame = builder_.addFrame({{part_, 1, builder_.box({})}}, slot);
    const Region staging = wholeFrame(builder_.schedule().frames[frame], frame);
    Steps added;
    for (const Box& box : boxes_.cover(roles_.first[direction]))
      added.push_back({box, builder_.receiveAndReduce(place(box), out_, in_, staging, moves, {})});
    for (const Box& box : boxes_.cover(roles_.later[direction])) {
      After after = meeting(sums_, box);
      after.push_back(builder_.receive(place(box), staging, moves, {}));
      added.push_back({box, builder_.reduce(place(box), out_, out_, staging, after)});
    }
    sums_.insert(sums_.end(), added.begin(), added.end());
  }
  for (std::uint32_t up = 0; up < roles_.below.size(); ++up) {
    for (const Box& box : boxes_.cover(roles_.leaves[up]))
      sent_.push_back({box, builder_.send(place(box), in_, shiftTo(up), {})});
    for (const Box& box : boxes_.cover(roles_.inner[up]))
      sent_.push_back({box, builder_.send(place(box), out_, shiftTo(up), meeting(sums_, box))});
  }
}

void TreeSteps::broadcastFromRoot() {
  Steps received;
  for (std::uint32_t up = 0; up < roles_.below.size(); ++up) {
    for (const Box& box : boxes_.cover(roles_.below[up]))
      received.push_back(
          {box, builder_.receive(place(box), out_, shiftTo(opposite(up)), meeting(sent_, box))});
  }
  for (std::uint32_t direction = 0; direction < roles_.parents.size(); ++direction) {
    for (const Box& box : boxes_.cover(roles_.parents[direction])) {
      After after = meeting(received, box);
      // The root has the result when it has added all.
      if (boxes_.meet(root_, box)) addMeeting(sums_, root_, after);
      builder_.send(place(box), out_, shiftTo(direction), after);
    }
  }
}

/// A color for each tree; in each the blocks lie in rank order, for all move together.
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
  std::vector<TreeSteps> steps;
  steps.reserve(trees.size());
  for (std::uint32_t part = 0; part < trees.size(); ++part)
    steps.emplace_back(builder, boxes, graph,
                       TreeArcs(graph, trees[part].cables).rootedInTheMiddle(), part);
  for (TreeSteps& tree : steps)
    tree.reduceToRoot();
  builder.setPhase(1);
  for (TreeSteps& tree : steps)
    tree.broadcastFromRoot();
  return builder.take();
}

}  // namespace torc::compiler
