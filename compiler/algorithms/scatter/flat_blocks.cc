// Scatter and gather along flat trees, one axis after another, wherever the root is on a line. The
// root sends to every other coordinate of the first axis the blocks of the plane there; then all
// nodes of that line send along the second axis what they have, and so on: every block goes the
// shortest way. In a color for each axis of the network, which begins with it, n bytes take from a
// corner of a mesh of N axes, in S segments, about
//   (1 + 1 / (S d)) (p - 1) / p n beta / N,
// what all links of the root let through. From elsewhere the link with the longer end of its line
// behind it has most to carry, where a node in the middle could halve that.
//
// A message goes by an offset along the axis, from nodes at the root's coordinate that have a node
// there. All of them send alike; but the root has what it sends in `in`, and others wait for what
// they receive, so that there is a send for the root, and one for each axis before on which the
// others differ from it last. Receives of an axis name the one before, so that whoever waits for
// the last of them waits for the own: dependences pass through operations that a node does not
// execute. Messages go one after the other on each arm of a line, the farthest first.
//
// A gather is the mirror image, the nearest first.
#include "compiler/algorithms/scatter/flat_blocks.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include <llvm/ADT/STLExtras.h>

#include "compiler/algorithms/scatter/root_colors.h"
#include "ir/make_error.h"
#include "ir/step_builder.h"
#include "ir/verifier/verifier.h"

namespace torc::compiler {
namespace {

/// Whether the root may be anywhere on an axis, so that coordinates do not count from it.
bool isLine(const Topology& topology, std::uint32_t axis) {
  return !topology.axes[axis].wraps();
}

/// Offsets from a coordinate of an axis to all others: the shorter way round, the farthest first.
/// Half way round is by `sign`.
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

/// The blocks of a color.
class FlatBlocks {
 public:
  FlatBlocks(ir::StepBuilder& builder, std::uint32_t part, const WayOut& way, bool in_turn)
      : builder_(builder),
        topology_(builder.schedule().topology),
        part_(part),
        stream_(builder.addStream({part, 0})),
        order_(way.order),
        sign_(way.sign),
        in_turn_(in_turn),
        ready_(way.order.size()) {}

  /// Appends the steps along axis number `level` of the order.
  void scatter(std::size_t level);
  void gather(std::size_t level);
  /// Appends the copies of own blocks to where they are held, before those of a gather.
  void beginGather();

 private:
  std::size_t last() const { return order_.size() - 1; }

  Interval atRoot(std::size_t level, std::int32_t offset = 0) const {
    const std::uint32_t axis = order_[level];
    if (isLine(topology_, axis)) return Interval::root(offset);
    return Interval::absolute(static_cast<std::int32_t>(wrap(offset, topology_.axes[axis].size)));
  }
  /// The root's coordinate, where a node lies at `offset` from it.
  Interval atRootWith(std::size_t level, std::int32_t offset) const {
    const std::uint32_t axis = order_[level];
    if (!isLine(topology_, axis)) return Interval::absolute(0);
    const std::uint32_t left =
        topology_.axes[axis].size - static_cast<std::uint32_t>(std::abs(offset));
    return Interval::rootWithin(std::max(0, -offset), left);
  }
  /// All other coordinates.
  llvm::SmallVector<Interval, 2> others(std::size_t level) const {
    const std::uint32_t axis = order_[level], size = topology_.axes[axis].size;
    if (!isLine(topology_, axis)) return {Interval::absolute(1, size - 1)};
    return {Interval::toRoot(0, -1), Interval::fromRoot(1, size - 1)};
  }
  /// Nodes at `along` on an axis, and at the root's coordinates of those behind it.
  Box nodes(std::size_t level, const Interval& along) const {
    Box box;
    box[order_[level]] = along;
    for (std::size_t behind = level + 1; behind < order_.size(); ++behind)
      box[order_[behind]] = atRoot(behind);
    return box;
  }
  Box root() const { return order_.empty() ? Box{} : nodes(0, atRoot(0)); }
  /// Those that differ from the root on that axis last.
  llvm::SmallVector<Box, 2> holders(std::size_t level) const {
    llvm::SmallVector<Box, 2> boxes;
    for (const Interval& along : others(level))
      boxes.push_back(nodes(level, along));
    return boxes;
  }
  ir::StepPlace place(const Box& nodes) {
    return {stream_, nodes == Box{} ? kNone : builder_.box(nodes)};
  }

  /// The blocks at `offset` on an axis and at the own coordinates on those before it.
  Box blocks(std::size_t level, std::int32_t offset) const {
    Box box;
    for (std::size_t before = 0; before < level; ++before)
      box[order_[before]] = Interval::relative(0);
    box[order_[level]] = Interval::relative(offset);
    return box;
  }
  /// In scratch: where a node has what it holds of the plane that it stands in.
  Region region(Buffer buffer, const Box& box) {
    if (buffer != Buffer::kScratch) {
      return builder_.region(buffer, {{part_, 1, builder_.box(box)}});
    }
    if (frame_ == kNone) {
      frame_ = builder_.addFrame({{part_, 1, builder_.box(blocks(0, 0))}},
                                 builder_.schedule().slot_count);
    }
    return builder_.region(buffer, {{part_, 1, builder_.box(box)}}, frame_);
  }
  Region own(Buffer buffer) { return region(buffer, order_.empty() ? Box{} : blocks(last(), 0)); }

  /// Calls `visit` with each box of nodes at the root's coordinate that hold blocks when those of
  /// the axes before `level` have moved, the axis on which they differ from the root last (none:
  /// the root), and the messages that they have had along each arm.
  template <typename Visit>
  void forHolders(std::size_t level, std::int32_t offset, Visit visit) {
    for (std::size_t of = 0; of <= level; ++of) {
      const bool is_root = of == level;
      auto boxes = is_root ? llvm::SmallVector<Box, 2>{root()} : holders(of);
      passed_.resize(std::max(passed_.size(), 2 * (of + 1)));
      for (Box& box : boxes) {
        box[order_[level]] = atRootWith(level, offset);
        visit(box, is_root, of, passed_[2 * of + (offset > 0 ? 1 : 0)]);
      }
    }
  }

  ir::StepBuilder& builder_;
  const Topology& topology_;
  const std::uint32_t part_, stream_;
  const AxisOrder order_;
  const int sign_;
  const bool in_turn_;  // whether messages along an arm go one after the other
  std::uint32_t frame_ = kNone;
  /// By axis, of nodes that differ from the root there last: of a scatter the last of what brings
  /// them their blocks; of a gather what they wait for before they send.
  std::vector<ir::OperationIndices> ready_;
  std::vector<ir::OperationIndices> passed_;  // along the axis at hand, by holders and arm
};

void FlatBlocks::scatter(std::size_t level) {
  if (level == 0) builder_.copy(place(root()), own(Buffer::kOut), own(Buffer::kIn), {});
  if (order_.empty()) return;
  passed_.clear();
  for (const std::int32_t offset : offsetsOf(topology_, order_[level], sign_)) {
    const Shift moves = ir::hop(order_[level], offset);
    forHolders(
        level, offset,
        [&](const Box& box, bool is_root, std::size_t of, ir::OperationIndices& passed) {
          ir::OperationIndices after;
          if (in_turn_) after = passed;
          if (!is_root) after.append(ready_[of]);
          const Buffer from = is_root ? Buffer::kIn : Buffer::kScratch;
          passed = {builder_.send(place(box), region(from, blocks(level, offset)), moves, after)};
        });
    const Region to =
        level == last() ? own(Buffer::kOut) : region(Buffer::kScratch, blocks(level, 0));
    ready_[level] = {
        builder_.receive(place(nodes(level, atRoot(level, offset))), to, moves, ready_[level])};
  }
  if (level == last()) return;
  for (const Box& box : holders(level))
    builder_.copy(place(box), own(Buffer::kOut), own(Buffer::kScratch), ready_[level]);
}

void FlatBlocks::beginGather() {
  builder_.copy(place(root()), own(Buffer::kOut), own(Buffer::kIn), {});
  for (std::size_t level = 0; level + 1 < order_.size(); ++level) {
    for (const Box& box : holders(level))
      ready_[level].push_back(
          builder_.copy(place(box), own(Buffer::kScratch), own(Buffer::kIn), {}));
  }
}

void FlatBlocks::gather(std::size_t level) {
  if (order_.empty()) return;
  passed_.clear();
  const std::vector<std::int32_t> offsets = offsetsOf(topology_, order_[level], sign_);
  for (const std::int32_t offset : llvm::reverse(offsets)) {
    const Shift moves = ir::hop(order_[level], -offset);
    const Region from =
        level == last() ? own(Buffer::kIn) : region(Buffer::kScratch, blocks(level, 0));
    builder_.send(place(nodes(level, atRoot(level, offset))), from, moves, ready_[level]);
    forHolders(level, offset,
               [&](const Box& box, bool is_root, std::size_t, ir::OperationIndices& passed) {
                 const Buffer to = is_root ? Buffer::kOut : Buffer::kScratch;
                 const Region arrived = region(to, blocks(level, offset));
                 if (in_turn_) {
                   passed = {builder_.receive(place(box), arrived, moves, passed)};
                 } else {
                   passed.push_back(builder_.receive(place(box), arrived, moves, {}));
                 }
               });
  }
  for (std::size_t of = 0; of < level; ++of) {
    ready_[of].append(passed_[2 * of]);
    ready_[of].append(passed_[2 * of + 1]);
  }
}

std::vector<WayOut> waysOf(Schedule& header, bool is_rotated) {
  return is_rotated ? addCornerColors(header) : std::vector{addRootColor(header)};
}

llvm::Expected<ir::Program> lower(const CollectiveSpec& spec, bool is_rotated) {
  if (spec.topology.isDamaged()) return makeError("flat-blocks: messages cannot go round damage");
  Schedule header = ir::scheduleHeader(spec.collective, spec.topology);
  const std::vector<WayOut> ways = waysOf(header, is_rotated);
  ir::StepBuilder builder(header);
  std::vector<FlatBlocks> colors;
  colors.reserve(ways.size());
  for (std::uint32_t part = 0; part < ways.size(); ++part)
    colors.emplace_back(builder, part, ways[part], is_rotated);
  const bool is_scatter = rowOf(spec.collective).describesOwnOut();
  if (!is_scatter) {
    for (FlatBlocks& color : colors)
      color.beginGather();
  }
  const std::size_t levels = std::max<std::size_t>(ways.front().order.size(), 1);
  for (std::size_t level = 0; level < levels; ++level) {
    builder.setPhase(static_cast<std::uint32_t>(level));
    for (FlatBlocks& color : colors) {
      if (is_scatter) {
        color.scatter(level);
      } else {
        color.gather(levels - 1 - level);
      }
    }
  }
  ir::Program program;
  program.schedule = builder.take();
  return program;
}

ProgramSize estimate(const CollectiveSpec& spec, bool is_rotated) {
  Schedule header = ir::scheduleHeader(spec.collective, spec.topology);
  ProgramSize size;
  size.of_nodes = true;
  for (const WayOut& way : waysOf(header, is_rotated)) {
    for (std::size_t level = 0; level < way.order.size(); ++level) {
      const std::uint32_t axis = way.order[level];
      const double messages =
          (isLine(spec.topology, axis) ? 2 : 1) * (spec.topology.axes[axis].size - 1.0);
      size.operations += messages * (2 + 2.0 * static_cast<double>(level));
    }
  }
  size.boxes = size.operations;
  // Where there are lines the proof goes through the places of the root on them.
  size.cell_steps = 3 * size.operations * size.operations;
  for (std::uint32_t axis = 0; axis < spec.topology.axis_count; ++axis)
    size.cell_steps *= isLine(spec.topology, axis) ? spec.topology.axes[axis].size : 1;
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
  return estimateRotatedFlatBlocks({Collective::kScatter, topology}).cell_steps <=
         static_cast<double>(ir::kMaxProofWork) / 5;
}

TreePipeline rotatedFlatBlocksPipeline(const Topology& topology) {
  Schedule header = ir::scheduleHeader(Collective::kScatter, topology);
  const std::vector<WayOut> ways = addCornerColors(header);
  TreePipeline pipeline{std::max(1.0, static_cast<double>(ways.front().order.size()))};
  double links = 0, messages = 0;
  for (const std::uint32_t axis : ways.front().order) {
    links += topology.axes[axis].isRing() ? 2 : 1;
    messages += topology.axes[axis].size - 1;
  }
  pipeline.share = 1 / std::max(links, 1.0);
  pipeline.messages = std::max(messages, 1.0);
  return pipeline;
}

}  // namespace torc::compiler
