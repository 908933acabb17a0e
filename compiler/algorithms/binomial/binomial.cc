// Binomial trees of an axis, one axis after another. If all sizes are powers of two, this is the
// binomial tree of all ranks, with its longest messages along the last axis of the order. The root
// sends along the first axis; then all nodes of that line send along the second, and so on.
// Messages are few, sum over the axes of ceil(log2(d_i)) in sequence, and long: they share links,
// so that the tree suits short vectors. A broadcast of n bytes takes about
//   sum ceil(log2(d_i)) (alpha + n beta)
// without link sharing ("Improving Communication Performance in Dense Linear Algebra via Topology
// Aware Collectives", section 3.1, has the binomial tree as its baseline).
//
// A message has a guard for its sender and one for its receiver, by their coordinates on the axis.
// So the number of operations grows with the sum of the axes' sizes. A node receives once.
//
// Scatters and gathers go along trees with two arms (ring_tree.h), so that every block takes a
// shortest path, and half of a ring's blocks leave the root in each direction: in the fewest
// rounds, for short vectors. A child gets half of its parent's blocks. On axes of powers of two, in
// one color, n bytes take
//   sum log2(d_i) alpha + sum d_i / 2 hops + (p - 1) / p n beta,
// as each node but the root gets one message, and the next message is half as long. A node's
// messages over one link are sequential: so the longest message, for which most nodes wait, does
// not share the link with later messages.
#include "compiler/algorithms/binomial/binomial.h"

#include <algorithm>
#include <cmath>

#include <llvm/ADT/SmallVector.h>

#include "compiler/algorithms/scatter/axis_blocks.h"
#include "compiler/algorithms/scatter/root_colors.h"
#include "compiler/algorithms/trees/arc_steps.h"
#include "compiler/algorithms/trees/ring_tree.h"
#include "ir/step_builder.h"

namespace torc::compiler {
namespace {

/// The arcs of a broadcast or a reduce on axes of rings.
llvm::Expected<ir::Program> alongTrees(const CollectiveSpec& spec, const char* name,
                                       RingTree (*tree_of)(std::uint32_t)) {
  if (llvm::Error error = checkRings(spec.topology, name)) return error;
  const Topology& topology = spec.topology;
  llvm::SmallVector<std::uint32_t, kMaxAxes> sizes;
  llvm::SmallVector<TreeAxis, kMaxAxes> kinds;
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    sizes.push_back(topology.axes[axis].size);
    kinds.push_back(sizes.back() == 1 ? TreeAxis::kSingle : TreeAxis::kRing);
  }
  const RootedNodes nodes(kinds, sizes);
  Arcs arcs;
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    Box box = nodes.root();
    for (std::uint32_t before = 0; before < axis; ++before)
      box[before] = Interval::all();
    const auto at = [&](std::uint32_t coordinate) {
      if (sizes[axis] > 1) box[axis] = Interval::absolute(static_cast<std::int32_t>(coordinate));
      return box;
    };
    for (const auto& round : tree_of(sizes[axis])) {
      for (const RingTreeEdge& edge : round)
        arcs.push_back({axis, distanceOf(edge, sizes[axis]), {at(edge.child)}, {at(edge.parent)}});
    }
  }
  return programOf(spec, arcs, nodes);
}

/// A scatter or a gather in one color, or (`rotated`) in one color for each link of the root.
llvm::Expected<ir::Program> withBlocks(const CollectiveSpec& spec, const char* name, bool rotated) {
  if (llvm::Error error = checkRings(spec.topology, name)) return error;
  Schedule header = ir::scheduleHeader(spec.collective, spec.topology);
  // In one color the first message from the root has half or a third of the blocks. The blocks of
  // the root's line leave at the same time; a shorter axis has more of them.
  const std::vector<WayOut> ways = rotated && spec.topology.sites() > 1
                                       ? addRootColors(header)
                                       : std::vector{addRootColor(header)};
  std::vector<BlockColor> colors;
  for (const WayOut& way : ways) {
    BlockColor& color = colors.emplace_back();
    color.gathers_in_turn = false;
    for (const std::uint32_t axis : way.order)
      color.trees.push_back(blockTree(spec.topology, axis, way.sign, twoArmTree));
  }
  return blocksAlongAxes(header, colors);
}

}  // namespace

llvm::Expected<ir::Program> lowerBinomial(const CollectiveSpec& spec) {
  const bool has_blocks = rowOf(spec.collective).layout == Layout::kBlockMajor;
  return has_blocks ? withBlocks(spec, "binomial", /*rotated=*/false)
                    : alongTrees(spec, "binomial", binomialTree);
}

llvm::Expected<ir::Program> lowerRotatedBinomial(const CollectiveSpec& spec) {
  return withBlocks(spec, "rotated-binomial", /*rotated=*/true);
}

llvm::Expected<ir::Program> lowerFlat(const CollectiveSpec& spec) {
  return alongTrees(spec, "flat", flatTree);
}

llvm::Expected<ir::Program> lowerBine(const CollectiveSpec& spec) {
  return alongTrees(spec, "bine", bineTree);
}

namespace {

ProgramSize estimateTrees(const CollectiveSpec& spec, bool rotated) {
  const CollectiveRow& row = rowOf(spec.collective);
  const bool has_blocks = row.layout == Layout::kBlockMajor;
  double operations = 0, axes = 0, last = 0;
  for (std::uint32_t i = 0; i < spec.topology.axis_count; ++i) {
    const Axis& axis = spec.topology.axes[i];
    if (axis.size == 1) continue;
    // One message for each node; other nodes at the root's coordinate send like the root.
    operations += (row.reduces() ? 3 : 2) * (axis.size - 1.0) + axes * std::log2(axis.size);
    axes += axis.kind != AxisKind::kCore;
    last = std::max<double>(last, axis.size);
  }
  if (has_blocks) operations += last / 2;  // the own block of nodes that hold blocks of others
  const double parts = rotated ? 2 * std::max(axes, 1.0) : 1;
  ProgramSize size;
  size.operations = parts * operations;
  size.boxes = size.operations / 2;
  size.cell_steps = 1.5 * parts * operations * operations;
  size.of_nodes = true;
  return size;
}

}  // namespace

ProgramSize estimateBinomial(const CollectiveSpec& spec) {
  return estimateTrees(spec, false);
}

ProgramSize estimateRotatedBinomial(const CollectiveSpec& spec) {
  return estimateTrees(spec, true);
}

}  // namespace torc::compiler
