// Scatter and gather over 2N arc-disjoint spanning trees, one color (i, s) for each axis i and sign
// s. Each color has 1/2N of every block (a closed rule for any torus, root and shape).
//
// The tree of a color. Data go
//  - from the root in both directions along axis i to the nodes of its *line*, which differ on i
//    alone;
//  - from each of these nodes through its *plane*, all nodes with that coordinate on i: in both
//    directions along axis i+1, then i+2, ... (cyclic);
//  - for the nodes of the root's own plane, the *rest*, to the node one step against s, through its
//    plane too, and from there one step along s.
// On a ring of d nodes d / 2 nodes are in direction s, (d - 1) / 2 in the other (rounded down). The
// color (i, -s) does the opposite, and its rest leaves the root over the other link. So each of the
// root's 2N links carries 1/2N of the outgoing data, (p - 1) / p n / 2N bytes, the bound. No other
// link carries more: data of two axes' colors along an axis use different links. On an axis of two
// nodes with one cable the colors of both signs share it, and have half the weight.
//
// Along an axis blocks go by a binomial tree from the node that has them (splitTree in
// ring_tree.h): messages over 2^k links, each for the nodes from its end up to the next ones that
// get such a message. A block crosses the links to its node once, as it would from neighbour to
// neighbour; but a line of d nodes takes d - 1 messages, not d^2 / 4, and a node at most log2(d).
// The first message of a node is the longest, half of its blocks; so the last ones, with the
// smallest subtrees, are short.
//
// Order. A node's messages over one link are sequential. Receives of different nodes form a chain
// of dependences. A node that waits for the last of them waits for its own one: dependences pass
// through operations that a node does not execute. So in S segments
//   T = (p - 1) / p n beta / 2N (1 + c / S) + (S + c) sum of log2(d_j) alpha, c about 1:
// a node forwards its part of a segment while the root sends the next one.
//
// Memory. Blocks that a node forwards along an axis lie in a frame, each at its place; the blocks
// that it keeps for the next axis stay there. A receive of the own block alone writes `out`;
// otherwise the block is copied there.
//
// A gather is the mirror image, reversed in time: the nearest first.
#include "compiler/algorithms/scatter/scatter_trees.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "compiler/algorithms/scatter/axis_blocks.h"
#include "compiler/algorithms/scatter/root_colors.h"
#include "ir/step_builder.h"

namespace torc::compiler {

llvm::Expected<ir::Program> lowerScatterTrees(const CollectiveSpec& spec) {
  const Topology& topology = spec.topology;
  if (llvm::Error error = checkRings(topology, "scatter-trees")) return error;
  Schedule header = ir::scheduleHeader(spec.collective, topology);
  const std::vector<WayOut> ways =
      topology.sites() > 1 ? addRootColors(header) : std::vector{addRootColor(header)};
  std::vector<BlockColor> colors;
  for (const WayOut& way : ways) {
    BlockColor& color = colors.emplace_back();
    color.rest = -way.sign;
    for (const std::uint32_t axis : way.order)
      color.trees.push_back(blockTree(topology, axis, way.sign, splitTree));
  }
  return blocksAlongAxes(header, colors);
}

ProgramSize estimateScatterTrees(const CollectiveSpec& spec) {
  Schedule header = ir::scheduleHeader(spec.collective, spec.topology);
  ProgramSize size;
  size.of_nodes = true;
  size.in_loops = true;
  if (spec.topology.sites() == 1) return size;
  for (const WayOut& way : addRootColors(header)) {
    double operations = 5;
    for (std::size_t level = 0; level < way.order.size(); ++level) {
      const double length = spec.topology.axes[way.order[level]].size;
      // Messages of holders and of forwarding nodes; after the first axis for planes and the rest.
      const double loads = level == 0 ? 1 : 2;
      const double holders = level == 0 ? 1 : static_cast<double>(level);
      const double copies = level + 1 == way.order.size() ? 0.5 : 0;
      operations += loads * (2 + copies) * (length - 1) + 2 * loads * holders * std::log2(length);
      size.cell_steps += 500 * loads * length;
    }
    size.operations += operations;
  }
  size.boxes = size.operations / 2;
  return size;
}

TreePipeline scatterTreesPipeline(const Topology& topology) {
  TreePipeline pipeline{2, 1};
  double links = 0;
  std::uint32_t longest = 1;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const Axis& axis = topology.axes[i];
    longest = std::max(longest, axis.size);
    if (axis.size > 1 && axis.kind != AxisKind::kCore) links += axis.hasOneCable() ? 1 : 2;
  }
  const auto sites = static_cast<double>(topology.sites());
  pipeline.share = (1 - 1 / sites) / std::max(links, 1.0);
  // Messages of the planes and of the rest, to each child of a holder.
  pipeline.messages = std::max(2 * std::ceil(std::log2(longest)), 1.0);
  return pipeline;
}

}  // namespace torc::compiler
