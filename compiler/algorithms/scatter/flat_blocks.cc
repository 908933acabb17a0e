// Scatter and gather along flat trees, one axis after another, for any root on a line. The root
// sends to every other coordinate of the first axis the blocks of the plane there; then all nodes
// of that line send their blocks along the second axis, and so on: every block takes a shortest
// path. With a color for each axis of the network, which begins with that axis, n bytes take from a
// corner of a mesh of N axes, in S segments, about
//   (1 + 1 / (S d)) (p - 1) / p n beta / N,
// the bound of the root's links. For other roots the link towards the longer end of its line has
// the largest load; a node in the middle could halve that.
//
// A message goes by an offset along the axis, from nodes at the root's coordinate that have a node
// there. Messages on each arm of a line are sequential, the farthest first in a scatter, the
// nearest first in a gather.
#include "compiler/algorithms/scatter/flat_blocks.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include <llvm/ADT/STLExtras.h>

#include "compiler/algorithms/scatter/axis_blocks.h"
#include "compiler/algorithms/scatter/root_colors.h"
#include "ir/make_error.h"
#include "ir/step_builder.h"
#include "ir/verifier/verifier.h"
#include "schedules/root.h"

namespace torc::compiler {
namespace {

/// Whether an axis is a line with any root coordinate, so that coordinates do not count from the
/// root.
bool isLine(const Topology& topology, std::uint32_t axis) {
  return !topology.axes[axis].wraps();
}

/// Offsets from a coordinate of an axis to all others in the shorter direction, the farthest first.
/// Half of the ring is by `sign`.
std::vector<std::int32_t> offsetsOf(const Topology& topology, std::uint32_t axis, int sign) {
  const auto size = static_cast<std::int32_t>(topology.axes[axis].size);
  const std::int32_t up = isLine(topology, axis) ? size - 1 : size / 2;
  const std::int32_t down = isLine(topology, axis) ? size - 1 : (size - 1) / 2;
  std::vector<std::int32_t> offsets;
  for (std::int32_t hops = up; hops > 0; --hops) {
    offsets.push_back(sign * hops);
    if (hops <= down) offsets.push_back(-sign * hops);
  }
  return offsets;
}

/// The flat tree of an axis; half of the ring is by `sign`.
AxisTree treeOf(const Topology& topology, std::uint32_t axis, int sign) {
  const std::uint32_t size = topology.axes[axis].size;
  const bool is_line = isLine(topology, axis);
  AxisTree tree{axis, is_line ? Interval::root(0) : Interval::absolute(0), {}, {{}}};
  if (is_line) {
    tree.others = {Interval::toRoot(0, -1), Interval::fromRoot(1, size - 1)};
  } else {
    tree.others = {Interval::absolute(1, size - 1)};
  }
  for (const std::int32_t hops : offsetsOf(topology, axis, sign)) {
    BlockEdge edge;
    edge.parent = tree.root;
    edge.hops = hops;
    if (is_line) {
      const auto away = static_cast<std::uint32_t>(std::abs(hops));
      edge.parent = Interval::rootWithin(std::max(0, -hops), size - away);
      edge.child = Interval::root(hops);
    } else {
      edge.child = Interval::absolute(static_cast<std::int32_t>(wrap(hops, size)));
    }
    edge.sent = Interval::relative(hops);
    edge.held = Interval::relative(0);
    tree.rounds.front().push_back(edge);
  }
  return tree;
}

/// A header with lines in place of cut rings, as coordinates count (schedules/root.h).
Schedule countedHeader(const CollectiveSpec& spec) {
  Schedule header = ir::scheduleHeader(spec.collective, spec.topology);
  header.topology = asCounted(header.view()).topology;
  return header;
}

std::vector<WayOut> waysOf(Schedule& header, bool is_rotated) {
  return is_rotated ? addCornerColors(header) : std::vector{addRootColor(header)};
}

llvm::Expected<ir::Program> lower(const CollectiveSpec& spec, bool is_rotated) {
  Schedule header = countedHeader(spec);
  const Topology counted = header.topology;
  if (counted.isDamaged()) return makeError("flat-blocks: messages cannot go round damage");
  std::vector<BlockColor> colors;
  for (const WayOut& way : waysOf(header, is_rotated)) {
    BlockColor& color = colors.emplace_back();
    color.scatters_in_turn = color.gathers_in_turn = is_rotated;
    for (const std::uint32_t axis : way.order)
      color.trees.push_back(treeOf(counted, axis, way.sign));
    // The plane of the node.
    if (!way.order.empty()) color.held[way.order.front()] = Interval::relative(0);
  }
  header.topology = spec.topology;
  return blocksAlongAxes(header, colors);
}

ProgramSize estimate(const CollectiveSpec& spec, bool is_rotated) {
  Schedule header = countedHeader(spec);
  const Topology counted = header.topology;
  ProgramSize size;
  size.of_nodes = true;
  for (const WayOut& way : waysOf(header, is_rotated)) {
    for (std::size_t level = 0; level < way.order.size(); ++level) {
      const std::uint32_t axis = way.order[level];
      const double messages = (isLine(counted, axis) ? 2 : 1) * (counted.axes[axis].size - 1.0);
      size.operations += messages * (2 + 2.0 * static_cast<double>(level));
    }
  }
  size.boxes = size.operations;
  // With lines the proof goes through the root's coordinates on them.
  size.cell_steps = 3 * size.operations * size.operations;
  for (std::uint32_t axis = 0; axis < counted.axis_count; ++axis)
    size.cell_steps *= isLine(counted, axis) ? counted.axes[axis].size : 1;
  return size;
}

}  // namespace

llvm::Expected<ir::Program> lowerFlatBlocks(const CollectiveSpec& spec) {
  return lower(spec, /*is_rotated=*/false);
}
llvm::Expected<ir::Program> lowerRotatedFlatBlocks(const CollectiveSpec& spec) {
  return lower(spec, /*is_rotated=*/true);
}
ProgramSize estimateFlatBlocks(const CollectiveSpec& spec) {
  return estimate(spec, /*is_rotated=*/false);
}
ProgramSize estimateRotatedFlatBlocks(const CollectiveSpec& spec) {
  return estimate(spec, /*is_rotated=*/true);
}

bool suitsFlatBlocks(const Topology& topology) {
  if (countedHeader({Collective::kScatter, topology}).topology.isDamaged()) return false;
  return estimateRotatedFlatBlocks({Collective::kScatter, topology}).cell_steps <=
         static_cast<double>(ir::kMaxProofWork) / 5;
}

TreePipeline rotatedFlatBlocksPipeline(const Topology& topology) {
  Schedule header = countedHeader({Collective::kScatter, topology});
  const std::vector<WayOut> ways = addCornerColors(header);
  TreePipeline pipeline{std::max(1.0, static_cast<double>(ways.front().order.size()))};
  double links = 0, messages = 0;
  for (const std::uint32_t axis : ways.front().order) {
    links += header.topology.axes[axis].isRing() ? 2 : 1;
    messages += topology.axes[axis].size - 1;
  }
  pipeline.share = 1 / std::max(links, 1.0);
  pipeline.messages = std::max(messages, 1.0);
  return pipeline;
}

}  // namespace torc::compiler
