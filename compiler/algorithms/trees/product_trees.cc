// Broadcasts and reduces along the trees of a rule (product_tree_rule.h).
#include "compiler/algorithms/trees/product_trees.h"

#include <llvm/ADT/SmallVector.h>

#include "compiler/algorithms/trees/arc_steps.h"
#include "compiler/algorithms/trees/product_tree_rule.h"
#include "ir/make_error.h"

namespace torc::compiler {

bool suitsProductTrees(const Topology& topology) {
  bool has_line = false;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const Axis& axis = topology.axes[i];
    if (axis.size == 1) continue;
    if (axis.kind == AxisKind::kCore || (axis.size == 2 && topology.isLine(i))) return false;
    has_line |= topology.isLine(i) || !axis.isRing();
  }
  return has_line && !topology.isBroken();
}

llvm::Expected<ir::Program> lowerProductTrees(const CollectiveSpec& spec) {
  if (!suitsProductTrees(spec.topology)) {
    return makeError(
        "product-trees: the trees need an axis that is no ring, and no "
        "damage but at one coordinate "
        "of an axis");
  }
  const TreeRule rule(spec.topology);
  std::vector<Arcs> trees;
  for (std::uint32_t tree = 0; tree < rule.trees(); ++tree)
    trees.push_back(rule.arcs(tree));
  return programOf(spec, trees, RootedNodes(rule.axes(), rule.sizes()));
}

TreePipeline productTreesPipeline(const Topology& topology) {
  const llvm::SmallVector<TreeAxis, kMaxAxes> axes = treeAxes(topology);
  TreePipeline pipeline{2, 1};
  std::uint32_t trees = 0;
  for (std::uint32_t i = 0; i < axes.size(); ++i) {
    pipeline.hops += topology.axes[i].size - 1;
    if (axes[i] != TreeAxis::kSingle) trees += axes[i] == TreeAxis::kRing ? 2 : 1;
  }
  if (trees > 0) pipeline.share = 1.0 / trees;
  return pipeline;
}

ProgramSize estimateProductTrees(const CollectiveSpec& spec) {
  double lines = 0, rings = 0;
  for (std::uint32_t i = 0; i < spec.topology.axis_count; ++i) {
    if (spec.topology.axes[i].size == 1) continue;
    (spec.topology.isLine(i) || !spec.topology.axes[i].isRing() ? lines : rings) += 1;
  }
  // With several lines, the crossings of trees make many different sets of reached nodes.
  const bool reduces = rowOf(spec.collective).reduces();
  const double of_node = lines > 1 ? (reduces ? 70'000 : 7'000) : (reduces ? 400 : 180);
  return treesSize(spec, lines + 2 * rings, of_node);
}

}  // namespace torc::compiler
