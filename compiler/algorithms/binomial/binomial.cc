// Binomial trees of an axis, one axis after another: where all sizes are powers of two that is the
// binomial tree of all ranks, whose longest messages go along the last axis of the order. The root
// sends along the first axis; then all nodes of that line along the second, and so on. Messages are
// few, sum over the axes of ceil(log2(d_i)) one after the other, and long: they share links, so
// that the tree is for short vectors. A broadcast of n bytes takes about
//   sum ceil(log2(d_i)) (alpha + n beta)
// where links are not shared ("Improving Communication Performance in Dense Linear Algebra via
// Topology Aware Collectives", section 3.1, has the binomial tree as its baseline).
//
// A message has a guard for its sender and one for its receiver, by their coordinates on the axis:
// as many operations as the axes have nodes. A node receives once on an axis. Receives of an axis
// name the one before, so that whoever waits for the last of them waits for the own: dependences
// pass through operations that a node does not execute. Every round is a phase.
//
// A reduction is the mirror image. It begins on the last axis, where the leaves send what they
// contribute as it lies and others add to that first; on the axes before, all have a sum.
//
// Scatters and gathers move blocks that differ, and have steps of their own: binomial_blocks.cc.
#include "compiler/algorithms/binomial/binomial.h"

#include <algorithm>
#include <cmath>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>

#include "compiler/algorithms/scatter/binomial_scatter.h"
#include "compiler/algorithms/trees/ring_tree.h"
#include "ir/make_error.h"
#include "ir/step_builder.h"

namespace torc::compiler {
namespace {

constexpr std::size_t kMostStaging = 8;  // receives of a node that can be under way

/// The most children that a node has.
std::size_t mostChildren(const RingTree& tree, std::uint32_t size) {
  std::vector<std::size_t> children(size);
  for (const auto& round : tree) {
    for (const RingTreeEdge& edge : round)
      ++children[edge.parent];
  }
  return *llvm::max_element(children);
}

class BinomialSteps {
 public:
  BinomialSteps(const CollectiveSpec& spec, RingTree (*tree)(std::uint32_t))
      : topology_(spec.topology),
        builder_(ir::scheduleHeader(spec.collective, topology_, 1)),
        stream_(builder_.addStream({0, 0})) {
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      if (topology_.axes[axis].size == 1) continue;
      axes_.push_back(axis);
      trees_.push_back(tree(topology_.axes[axis].size));
    }
  }

  Schedule run(bool reduces) {
    if (axes_.empty()) {
      builder_.copy({stream_, kNone}, data(Buffer::kOut), data(Buffer::kIn), {});
    } else if (reduces) {
      reduce();
    } else {
      broadcast();
    }
    return builder_.take();
  }

 private:
  void broadcast();
  void reduce();
  void addAt(const Box& box, bool is_root, bool is_first, const Shift& moves);

  Region data(Buffer buffer) { return builder_.region(buffer, {{0, 1, builder_.box({})}}); }
  Region frame(std::uint32_t slot) {
    const std::uint32_t frame = builder_.addFrame({{0, 1, builder_.box({})}}, slot);
    return wholeFrame(builder_.schedule().frames[frame], frame);
  }
  ir::StepPlace place(const Box& box) { return {stream_, builder_.box(box)}; }
  /// From parent to child on the i-th axis, or back.
  Shift moves(std::size_t i, const RingTreeEdge& edge, bool outward) const;

  /// Nodes at `coordinate` of the i-th axis, and at the root's coordinates of those behind it.
  Box nodes(std::size_t i, std::uint32_t coordinate) const {
    Box box;
    box[axes_[i]] = Interval::absolute(static_cast<std::int32_t>(coordinate));
    for (std::size_t k = i + 1; k < axes_.size(); ++k)
      box[axes_[k]] = Interval::absolute(0);
    return box;
  }
  /// The same at the coordinate of the root, without the root.
  llvm::SmallVector<Box, kMaxAxes> othersAtRoot(std::size_t i) const {
    llvm::SmallVector<Box, kMaxAxes> boxes;
    Box box = nodes(i, 0);
    for (std::size_t k = 0; k < i; ++k) {
      box[axes_[k]] = Interval::absolute(1, topology_.axes[axes_[k]].size - 1);
      boxes.push_back(box);
      box[axes_[k]] = Interval::absolute(0);
    }
    return boxes;
  }
  Box root() const { return nodes(0, 0); }

  const Topology topology_;
  ir::StepBuilder builder_;
  const std::uint32_t stream_;
  llvm::SmallVector<std::uint32_t, kMaxAxes> axes_;  // of more than one node
  llvm::SmallVector<RingTree, kMaxAxes> trees_;      // of each of them
  llvm::SmallVector<std::uint32_t, 16> adds_;        // whatever changed a sum, in order
  llvm::SmallVector<Region, kMostStaging> staging_;
  Region sum_;
};

Shift BinomialSteps::moves(std::size_t i, const RingTreeEdge& edge, bool outward) const {
  const std::int32_t distance = distanceOf(edge, topology_.axes[axes_[i]].size);
  Shift shift{};
  shift[axes_[i]] = outward ? distance : -distance;
  return shift;
}

void BinomialSteps::broadcast() {
  const Region in = data(Buffer::kIn), out = data(Buffer::kOut);
  std::uint32_t rounds = 0, sent = kNone;    // by the root, its last message
  llvm::SmallVector<std::uint32_t, 1> last;  // of all receives
  for (std::uint32_t i = 0; i < axes_.size(); ++i) {
    const llvm::SmallVector<std::uint32_t, 1> before = last;
    std::vector<std::uint32_t> received(topology_.axes[axes_[i]].size, kNone);
    for (const auto& round : trees_[i]) {
      builder_.setPhase(rounds++);
      for (const RingTreeEdge& edge : round) {
        const Shift to_child = moves(i, edge, /*outward=*/true);
        if (edge.parent != 0) {
          builder_.send(place(nodes(i, edge.parent)), out, to_child, received[edge.parent]);
        } else {
          sent = builder_.send(place(root()), in, to_child, {});
          for (const Box& box : othersAtRoot(i))
            builder_.send(place(box), out, to_child, before);
        }
        received[edge.child] = builder_.receive(place(nodes(i, edge.child)), out, to_child, last);
        last = {received[edge.child]};
      }
    }
  }
  builder_.copy(place(root()), out, in, sent);
}

/// Adds what comes by `moves` to the sum of the nodes of `box`; `is_first` to what they contribute.
void BinomialSteps::addAt(const Box& box, bool is_root, bool is_first, const Shift& moves) {
  const Region in = data(Buffer::kIn), sum = is_root ? data(Buffer::kOut) : sum_;
  const Region& staging = staging_[adds_.size() % staging_.size()];
  llvm::SmallVector<std::uint32_t, 2> after;
  if (adds_.size() >= staging_.size()) after.push_back(adds_[adds_.size() - staging_.size()]);
  const std::uint32_t received = builder_.receive(place(box), staging, moves, after);
  after = {received};
  if (!adds_.empty()) after.push_back(adds_.back());
  adds_.push_back(builder_.reduce(place(box), sum, is_first ? in : sum, staging, after));
}

void BinomialSteps::reduce() {
  sum_ = frame(0);
  std::size_t children = 1;
  for (std::size_t i = 0; i < axes_.size(); ++i)
    children = std::max(children, mostChildren(trees_[i], topology_.axes[axes_[i]].size));
  for (std::uint32_t slot = 1; slot <= std::min(children, kMostStaging); ++slot)
    staging_.push_back(frame(slot));
  const std::size_t innermost = axes_.size() - 1;
  std::uint32_t rounds = 0;
  for (std::size_t i = axes_.size(); i-- > 0;) {
    std::vector<bool> has_sum(topology_.axes[axes_[i]].size, i != innermost);
    for (const auto& round : llvm::reverse(trees_[i])) {
      builder_.setPhase(rounds++);
      for (const RingTreeEdge& edge : round) {
        const Shift to_parent = moves(i, edge, /*outward=*/false);
        const Region what = has_sum[edge.child] ? sum_ : data(Buffer::kIn);
        builder_.send(place(nodes(i, edge.child)), what, to_parent,
                      has_sum[edge.child] ? llvm::ArrayRef(adds_).take_back(1)
                                          : llvm::ArrayRef<std::uint32_t>());
        const bool is_first = !has_sum[edge.parent];
        if (edge.parent == 0) {
          addAt(root(), true, is_first, to_parent);
          for (const Box& box : othersAtRoot(i))
            addAt(box, false, is_first, to_parent);
        } else {
          addAt(nodes(i, edge.parent), false, is_first, to_parent);
        }
        has_sum[edge.parent] = true;
      }
    }
  }
}

llvm::Expected<ir::Program> planTrees(const CollectiveSpec& spec, const char* name,
                                      RingTree (*tree)(std::uint32_t)) {
  if (llvm::Error error = checkRings(spec.topology, name)) return error;
  ir::Program program;
  program.schedule = BinomialSteps(spec, tree).run(rowOf(spec.collective).reduces());
  return program;
}

llvm::Expected<ir::Program> planBlocks(const CollectiveSpec& spec, const char* name,
                                       RootLinks links) {
  if (llvm::Error error = checkRings(spec.topology, name)) return error;
  ir::Program program;
  program.schedule = binomialScatter(spec, links);
  return program;
}

}  // namespace

llvm::Expected<ir::Program> lowerBinomial(const CollectiveSpec& spec) {
  const bool has_blocks = rowOf(spec.collective).layout == Layout::kBlockMajor;
  return has_blocks ? planBlocks(spec, "binomial", RootLinks::kFirstAxis)
                    : planTrees(spec, "binomial", binomialTree);
}

llvm::Expected<ir::Program> lowerRotatedBinomial(const CollectiveSpec& spec) {
  return planBlocks(spec, "rotated-binomial", RootLinks::kAll);
}

llvm::Expected<ir::Program> lowerFlat(const CollectiveSpec& spec) {
  return planTrees(spec, "flat", flatTree);
}

llvm::Expected<ir::Program> lowerBine(const CollectiveSpec& spec) {
  return planTrees(spec, "bine", bineTree);
}

namespace {

ProgramSize estimateTrees(const CollectiveSpec& spec, bool rotated) {
  const CollectiveRow& row = rowOf(spec.collective);
  const bool has_blocks = row.layout == Layout::kBlockMajor;
  double operations = 0, axes = 0, last = 0;
  for (std::uint32_t i = 0; i < spec.topology.axis_count; ++i) {
    const Axis& axis = spec.topology.axes[i];
    if (axis.size == 1) continue;
    // A message for each node; those of the root are sent by others at its coordinate, too.
    operations += (row.reduces() ? 3 : 2) * (axis.size - 1.0) + axes * std::log2(axis.size);
    axes += axis.kind != AxisKind::kCore;
    last = std::max<double>(last, axis.size);
  }
  if (has_blocks) operations += last / 2;  // the own block of whoever has others'
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
