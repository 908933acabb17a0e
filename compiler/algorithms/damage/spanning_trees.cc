#include "compiler/algorithms/damage/spanning_trees.h"

#include <algorithm>

#include "compiler/algorithms/damage/live_graph.h"
#include "compiler/algorithms/damage/tree_allreduce.h"
#include "compiler/algorithms/damage/tree_packing.h"
#include "ir/make_error.h"

namespace torc::compiler {

llvm::Error checkTreeNodes(const Topology& topology, llvm::StringRef trees) {
  const std::uint64_t nodes = topology.ranks();
  if (nodes <= kMaxTreeNodes) return llvm::Error::success();
  return makeError(trees + ": " + topology.shape() + " has " + std::to_string(nodes) +
                   " live nodes, each with operations of its own; at most " +
                   std::to_string(kMaxTreeNodes) + " are served");
}

llvm::Expected<ir::Program> lowerSpanningTrees(const CollectiveSpec& spec) {
  if (llvm::Error error = checkTreeNodes(spec.topology, "spanning trees")) return error;
  const LiveGraph graph(spec.topology);
  std::vector<WeightedTree> trees;
  if (graph.nodes() == 1) {
    trees.emplace_back();
  } else {
    for (TreeCables& cables : bestPacking(graph).trees)
      trees.push_back({std::move(cables), 1});
  }
  ir::Program program;
  program.schedule = treeAllreduce(spec, graph, trees);
  return program;
}

TreePipeline spanningTreesPipeline(const Topology& topology) {
  const LiveGraph graph(topology);
  if (graph.nodes() == 1) return {1, 1};
  const std::vector<std::uint32_t> distances = graph.distancesFrom(0);
  TreePipeline pipeline;
  pipeline.hops = 4.0 * *std::max_element(distances.begin(), distances.end());
  pipeline.share = (graph.nodes() - 1.0) / graph.cables();
  return pipeline;
}

ProgramSize estimateTreesByNode(const CollectiveSpec& spec) {
  ProgramSize size;
  size.operations = 16.0 * spec.topology.axis_count * static_cast<double>(spec.topology.ranks());
  size.boxes = size.operations;
  size.of_nodes = true;
  return size;
}

}  // namespace torc::compiler
