// allreduce over edge-disjoint trees: reduced to a root in the middle of each, broadcast back.
#include "compiler/algorithms/trees/spanning_trees.h"

#include <algorithm>

#include "compiler/algorithms/live_graph.h"
#include "compiler/algorithms/trees/breadth_first_trees.h"
#include "compiler/algorithms/trees/tree_packing.h"
#include "compiler/algorithms/trees/tree_program.h"

namespace torc {
namespace {

constexpr std::uint32_t kStaging = 2;  // receives of a node and tree that can be under way

/// A spanning tree seen from its root.
struct RootedTree {
  std::vector<std::uint32_t> order;     // nodes, the root first, by depth
  std::vector<std::uint32_t> arc_from;  // by node: the arc that leads to it from its parent
};

RootedTree rootedAt(const LiveGraph& graph, const std::vector<std::vector<std::uint32_t>>& arcs_of,
                    std::uint32_t root) {
  RootedTree tree;
  tree.order = {root};
  tree.arc_from.assign(graph.nodes(), kNone);
  for (std::size_t i = 0; i < tree.order.size(); ++i) {
    const std::uint32_t node = tree.order[i];
    for (const std::uint32_t arc : arcs_of[node]) {
      const std::uint32_t child = graph.arc(arc).to;
      if (tree.arc_from[node] == LiveGraph::reverse(arc)) continue;
      tree.arc_from[child] = arc;
      tree.order.push_back(child);
    }
  }
  return tree;
}

/// The tree rooted in its middle, where it is least deep: half way between two ends of a longest
/// way.
RootedTree rootedInTheMiddle(const LiveGraph& graph, const TreeCables& cables) {
  std::vector<std::vector<std::uint32_t>> arcs_of(graph.nodes());
  for (const std::uint32_t cable : cables) {
    for (const std::uint32_t arc : {2 * cable, 2 * cable + 1})
      arcs_of[graph.arc(arc).from].push_back(arc);
  }
  const std::uint32_t one_end = rootedAt(graph, arcs_of, 0).order.back();
  const RootedTree from_end = rootedAt(graph, arcs_of, one_end);
  std::vector<std::uint32_t> way{from_end.order.back()};
  while (way.back() != one_end)
    way.push_back(graph.arc(from_end.arc_from[way.back()]).from);
  return rootedAt(graph, arcs_of, way[way.size() / 2]);
}

/// One part of the vector, on one tree.
class TreeAllreduce {
 public:
  TreeAllreduce(TreeProgram& program, const LiveGraph& graph, std::uint32_t part, RootedTree tree)
      : program_(program),
        graph_(graph),
        part_(part),
        tree_(std::move(tree)),
        reductions_(graph.nodes()),
        sent_up_(graph.nodes(), kNone) {}

  void reduceToRoot() {
    for (std::size_t i = tree_.order.size(); i-- > 1;) {
      const std::uint32_t node = tree_.order[i];
      const LiveArc& up = graph_.arc(LiveGraph::reverse(tree_.arc_from[node]));
      const OperationList& sums = reductions_[node];
      sent_up_[node] =
          sums.empty() ? program_.send(in(), up, {}) : program_.send(out(), up, sums.back());
      addFrom(up);
    }
  }

  void broadcastFromRoot() {
    std::vector<std::uint32_t> complete(graph_.nodes(), kNone);
    complete[tree_.order.front()] = reductions_[tree_.order.front()].back();
    for (std::size_t i = 1; i < tree_.order.size(); ++i) {
      const std::uint32_t node = tree_.order[i];
      const LiveArc& down = graph_.arc(tree_.arc_from[node]);
      program_.send(out(), down, complete[down.from]);
      complete[node] = program_.receive(out(), down, sent_up_[node]);
    }
  }

 private:
  Region in() { return program_.region(Buffer::kIn, part_, program_.allBlocks()); }
  Region out() { return program_.region(Buffer::kOut, part_, program_.allBlocks()); }

  /// Adds to the sum of a node what comes over `arc`. The first time that is its own data; later
  /// receives need not wait for the addition before, but for the place to receive into.
  void addFrom(const LiveArc& arc) {
    OperationList& sums = reductions_[arc.to];
    const auto turn = static_cast<std::uint32_t>(sums.size());
    const Region staging =
        program_.scratch(part_, program_.allBlocks(), kStaging * part_ + turn % kStaging);
    if (turn == 0) {
      sums.push_back(program_.receiveAndReduce(out(), in(), staging, arc, {}));
      return;
    }
    OperationList after;
    if (turn >= kStaging) after.push_back(sums[turn - kStaging]);
    after = {program_.receive(staging, arc, after)};
    after.push_back(sums.back());
    sums.push_back(program_.reduce(arc.to, out(), out(), staging, after));
  }

  TreeProgram& program_;
  const LiveGraph& graph_;
  const std::uint32_t part_;
  const RootedTree tree_;
  std::vector<OperationList> reductions_;  // by node
  std::vector<std::uint32_t> sent_up_;     // by node
};

Schedule allreduce(const CollectiveSpec& spec, const LiveGraph& graph) {
  const TreePacking packing = bestPacking(graph);
  TreeProgram program(spec, static_cast<std::uint32_t>(packing.trees.size()));
  std::vector<TreeAllreduce> trees;
  for (std::uint32_t part = 0; part < packing.trees.size(); ++part)
    trees.emplace_back(program, graph, part, rootedInTheMiddle(graph, packing.trees[part]));
  for (TreeAllreduce& tree : trees)
    tree.reduceToRoot();
  program.setPhase(1);
  for (TreeAllreduce& tree : trees)
    tree.broadcastFromRoot();
  return program.take();
}

/// One node: its data are the result.
Schedule alone(const CollectiveSpec& spec) {
  TreeProgram program(spec, 1);
  const Blocks blocks =
      spec.collective == Collective::kAllreduce ? program.allBlocks() : program.blockOf(0);
  program.copy(0, program.region(Buffer::kOut, 0, blocks), program.region(Buffer::kIn, 0, blocks));
  return program.take();
}

}  // namespace

llvm::Expected<Program> planSpanningTrees(const CollectiveSpec& spec) {
  const std::uint64_t nodes = spec.topology.ranks();
  if (nodes > kMaxTreeNodes) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "spanning trees: " + spec.topology.shape() + " has " +
                                       std::to_string(nodes) +
                                       " live nodes, each with operations of its own; at most " +
                                       std::to_string(kMaxTreeNodes) + " are served");
  }
  Program program;
  if (nodes == 1) {
    program.schedule = alone(spec);
    return program;
  }
  const LiveGraph graph(spec.topology);
  const CollectiveRow& row = rowOf(spec.collective);
  program.schedule = !row.reduces()   ? breadthFirstAllgather(spec, graph)
                     : row.outWhole() ? allreduce(spec, graph)
                                      : breadthFirstReduceScatter(spec, graph);
  return program;
}

}  // namespace torc
