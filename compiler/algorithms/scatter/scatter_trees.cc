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

#include <utility>
#include <vector>

#include "compiler/algorithms/scatter/block_tree.h"
#include "compiler/algorithms/scatter/root_colors.h"
#include "ir/step_builder.h"

namespace torc::compiler {
namespace {

/// One node: its own block, in one color.
Schedule ownBlock(Schedule schedule) {
  schedule.colors = {colorOf(schedule.topology, {})};
  ir::StepBuilder builder(schedule);
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

llvm::Expected<ir::Program> planScatterTrees(const CollectiveSpec& spec) {
  const Topology& topology = spec.topology;
  if (topology.isDamaged()) return cannot("the trees cannot go round damage");
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (!topology.axes[i].wraps()) return cannot("the trees need axes that wrap");
  }
  ir::Program program;
  program.schedule = ir::scheduleHeader(spec.collective, topology);
  if (topology.sites() == 1) {
    program.schedule = ownBlock(std::move(program.schedule));
    return program;
  }
  const std::vector<WayOut> ways = addRootColors(program.schedule);
  ir::StepBuilder builder(program.schedule);
  std::vector<BlockTree> trees;
  const bool is_scatter = rowOf(spec.collective).describesOwnOut();
  const auto levels = static_cast<std::uint32_t>(ways.front().order.size());
  trees.reserve(ways.size());
  for (std::uint32_t part = 0; part < ways.size(); ++part)
    trees.emplace_back(builder, part, ways[part].order, ways[part].sign);
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

ProgramSize estimateScatterTrees(const CollectiveSpec& spec) {
  Schedule header = ir::scheduleHeader(spec.collective, spec.topology);
  ProgramSize size;
  size.of_nodes = true;
  if (spec.topology.sites() == 1) return size;
  const bool is_scatter = rowOf(spec.collective).describesOwnOut();
  for (const WayOut& way : addRootColors(header)) {
    double operations = 5, cubes = 0;
    for (std::size_t level = 0; level < way.order.size(); ++level) {
      const double length = spec.topology.axes[way.order[level]].size;
      // Rows, each sent by all holders and handed on; behind the first axis planes and the rest.
      const double loads = level == 0 ? 1 : 2;
      const double holders = level == 0 ? 1 : static_cast<double>(level);
      operations += loads * (length - 1) * (holders + (is_scatter ? 2 : 3));
      cubes += loads * length * length * length;
    }
    size.operations += operations;
    // In a scatter what is behind a node shrinks by a row with each that it hands on.
    size.cell_steps +=
        is_scatter ? operations * operations + 0.45 * cubes : 2.6 * operations * operations;
  }
  size.boxes = size.operations / 2;
  return size;
}

}  // namespace torc::compiler
