// Scatter and gather over 2N arc-disjoint spanning trees, one color (i, s) for each axis i and sign
// s, with 1/2N of every block (a closed rule for any torus, root and shape).
//
// The tree of a color. A node at distance o_j from the root along axis j, counted the way s round,
// has its parent one step back along the last axis j of i, i+1, ..., i+N-1 (cyclic) with o_j > 0;
// but if o_i = 0, along axis i. So the root has one child, and data go
//   out along axis i, from the root to the nodes of its *line*, o_i = 1 ... d_i - 1;
//   from each of them through its *plane*, all nodes with that o_i: along axis i+1, then i+2, ...;
//   from the plane at d_i - 1 one more step along axis i, to the root's own plane, the *rest*.
// Each of the root's 2N links carries 1/2N of what goes out, (p - 1) / p n / 2N bytes, the bound,
// and no other link of a tree more. Trees share no link (on an axis of two nodes with one cable the
// colors of both signs share it, and have half the weight).
//
// Order. Along an axis what goes farthest goes first, so that all of it arrives at its line's nodes
// at the same time: to the plane at distance q in slot d_i - q, over q links. A plane is then
// 1 / d_i of the data behind, a row of it 1 / (d_i d_i+1): in S chunks
//   T = (p - 1) / p n beta / 2N (1 + (1 / d_i + 1 / (d_i d_i+1) + ...) / S) + (sum of d_j) alpha.
// What a node sends over a link waits for what it sent there before.
//
// Memory. What a node only hands on takes two slots in turn for each axis; what it keeps to send on
// along the next axis has a frame, of the plane, the row, ... that it stands for. A receive of the
// own block writes `out` where no axis is left, else it is copied there.
//
// A gather is the mirror image, reversed in time: the nearest first.
#include "compiler/algorithms/scatter/scatter_trees.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>

#include "compiler/algorithms/scatter/block_tree.h"
#include "ir/step_builder.h"

namespace torc {
namespace {

/// Links of an axis in one direction for each of two signs, relative to others: 1/64.
std::uint64_t weightOf(const Topology& topology, const Axis& axis) {
  double least = axis.bandwidth;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const Axis& other = topology.axes[i];
    if (other.size > 1 && other.kind != AxisKind::kCore) least = std::min(least, other.bandwidth);
  }
  const double ratio = std::min(axis.bandwidth / least, 1024.0);
  return static_cast<std::uint64_t>(std::llround(64 * ratio)) * (axis.hasOneCable() ? 1 : 2);
}

/// The axes of more than one node from number `first` of the network's on, around, and the cores.
llvm::SmallVector<std::uint32_t, kMaxAxes> orderFrom(const Topology& topology,
                                                     std::uint32_t first) {
  llvm::SmallVector<std::uint32_t, kMaxAxes> network, cores;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const Axis& axis = topology.axes[i];
    if (axis.size > 1) (axis.kind == AxisKind::kCore ? cores : network).push_back(i);
  }
  if (!network.empty()) {
    std::rotate(network.begin(), network.begin() + first % network.size(), network.end());
  }
  network.append(cores.begin(), cores.end());
  return network;
}

/// A color whose phases visit `order` first, then the axes of one node.
Color colorOf(const Topology& topology, llvm::ArrayRef<std::uint32_t> order) {
  Color color;
  color.axis_count = topology.axis_count;
  std::uint32_t next = 0;
  for (const std::uint32_t axis : order)
    color.order[next++] = static_cast<std::uint8_t>(axis);
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (!llvm::is_contained(order, i)) color.order[next++] = static_cast<std::uint8_t>(i);
  }
  return color;
}

/// One node: its own block, in one color.
Schedule ownBlock(Schedule schedule) {
  schedule.colors = {colorOf(schedule.topology, {})};
  StepBuilder builder(schedule);
  const std::uint32_t box = builder.box(Box{});
  builder.copy({builder.addStream({0, 0}), kNone}, boxRegion(Buffer::kOut, 0, box),
               boxRegion(Buffer::kIn, 0, box), {});
  return builder.take();
}

llvm::Error cannot(const char* why) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 llvm::Twine("scatter-trees: ") + why);
}

}  // namespace

llvm::Expected<Program> planScatterTrees(const CollectiveSpec& spec) {
  const Topology& topology = spec.topology;
  if (topology.isDamaged()) return cannot("the trees cannot go round damage");
  std::uint32_t starts = 0;  // axes on which colors leave the root
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const Axis& axis = topology.axes[i];
    if (!axis.wraps()) return cannot("the trees need axes that wrap");
    starts += axis.size > 1 && axis.kind != AxisKind::kCore;
  }
  Program program;
  program.schedule = scheduleHeader(spec.collective, topology);
  if (topology.sites() == 1) {
    program.schedule = ownBlock(std::move(program.schedule));
    return program;
  }
  starts = std::max(starts, 1u);  // else the cores of one node
  llvm::SmallVector<llvm::SmallVector<std::uint32_t, kMaxAxes>, kMaxAxes> orders;
  for (std::uint32_t i = 0; i < starts; ++i) {
    orders.push_back(orderFrom(topology, i));
    Color color = colorOf(topology, orders.back());
    color.weight = weightOf(topology, topology.axes[orders.back().front()]);
    program.schedule.colors.insert(program.schedule.colors.end(), 2, color);
  }
  StepBuilder builder(program.schedule);
  std::vector<BlockTree> trees;
  const bool is_scatter = rowOf(spec.collective).describesOwnOut();
  const auto levels = static_cast<std::uint32_t>(orders.front().size());
  trees.reserve(2 * starts);
  for (std::uint32_t part = 0; part < 2 * starts; ++part)
    trees.emplace_back(builder, part, orders[part / 2], part % 2 == 0 ? 1 : -1);
  for (std::uint32_t phase = 0; phase <= levels; ++phase) {
    builder.setPhase(phase);
    for (BlockTree& tree : trees) {
      if (is_scatter) {
        tree.scatter(phase);
      } else {
        tree.gather(levels - phase);
      }
    }
  }
  program.schedule = builder.take();
  return program;
}

}  // namespace torc
