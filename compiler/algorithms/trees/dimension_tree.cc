// The dimension-order tree. The root sends both ways along the first axis; every node of that line
// does the same along the second axis, and so on. A ring is halved: one way serves the nearer half,
// the other way the rest. In S chunks, one behind the other, a broadcast of n bytes takes
//   (A + S) (alpha + n beta / S),   A = sum over the axes of floor(d_i / 2), or of a line's longer
// end seen from the root, as every node receives on one link and hands on what it has received: the
// time of a message over one link, n beta, plus the way. Trees on all links are faster by up to
// their number; this is the one that costs least where messages are small or nodes have one port.
//
// A reduce is the mirror image: along the last axis first, sums go both ways to the root's
// coordinate.
//
// The plan is a tree broadcast along each axis in turn, or a tree reduction along each in reverse
// (passes/expand_trees.cc). It names every axis, those of one node too, on which nothing moves.
#include "compiler/algorithms/trees/dimension_tree.h"

#include "compiler/algorithms/trees/tree_pipeline.h"
#include "ir/make_error.h"
#include "ir/step_builder.h"

namespace torc::compiler {

llvm::Expected<ir::Program> lowerDimensionTree(const CollectiveSpec& spec) {
  if (spec.topology.isDamaged()) {
    return makeError("dimension-tree: the tree cannot go round damage");
  }
  ir::Program program;
  program.schedule = ir::scheduleHeader(spec.collective, spec.topology, 1);
  const std::uint32_t axes = spec.topology.axis_count;
  const bool reduces = rowOf(spec.collective).reduces();
  for (std::uint32_t i = 0; i < axes; ++i) {
    if (i > 0) program.plan.push_back({ir::PlanKind::kPhaseBarrier});
    if (reduces) {
      program.plan.push_back({ir::PlanKind::kTreeReduce, 0, axes - 1 - i});
    } else {
      program.plan.push_back({ir::PlanKind::kTreeBroadcast, 0, i});
    }
  }
  return program;
}

ProgramSize estimateDimensionTree(const CollectiveSpec& spec) {
  return treesSize(spec, 1, 30);
}

}  // namespace torc::compiler
