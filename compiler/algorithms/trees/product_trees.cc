// The steps of broadcasts and reduces along the trees of a rule (product_tree_rule.h).
//
// A broadcast sends each segment down; every hop of a rule is a receive behind a guard for each box
// that covers its nodes, and a send behind the same box, moved back. A reduction is the mirror
// image: a node copies what it contributes, adds what its children send, and sends the sum.
#include "compiler/algorithms/trees/product_trees.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>

#include "compiler/algorithms/trees/product_arcs.h"
#include "compiler/algorithms/trees/product_tree_rule.h"
#include "compiler/algorithms/trees/root_classes.h"
#include "ir/make_error.h"
#include "ir/step_builder.h"

namespace torc::compiler {
namespace {

class ProductTrees {
 public:
  explicit ProductTrees(const CollectiveSpec& spec)
      : topology_(spec.topology),
        axes_(treeAxes(topology_)),
        sizes_(sizesOf(topology_)),
        rule_(axes_, sizes_),
        grid_(axes_, sizes_),
        builder_(ir::scheduleHeader(spec.collective, topology_, rule_.trees())) {}

  Schedule run(bool reduces) {
    for (std::uint32_t tree = 0; tree < rule_.trees(); ++tree) {
      stream_ = builder_.addStream({tree, 0});
      part_ = tree;
      const std::vector<ArcBoxes> arcs = productArcs(axes_, sizes_, rule_, grid_, tree);
      if (reduces) {
        reduce(arcs);
      } else {
        broadcast(arcs);
      }
    }
    return builder_.take();
  }

 private:
  static llvm::SmallVector<std::uint32_t, kMaxAxes> sizesOf(const Topology& topology) {
    llvm::SmallVector<std::uint32_t, kMaxAxes> sizes;
    for (std::uint32_t i = 0; i < topology.axis_count; ++i)
      sizes.push_back(topology.axes[i].size);
    return sizes;
  }

  void broadcast(llvm::ArrayRef<ArcBoxes> arcs);
  void reduce(llvm::ArrayRef<ArcBoxes> arcs);
  void addAtRoot(llvm::ArrayRef<ArcBoxes> arcs);

  /// Where the root alone is; on `axis`, if it is a line, only if that has a neighbour of the root
  /// by `sign`.
  Box rootWithNeighbour(std::uint32_t axis, int sign) const;
  Box rootBox() const { return rootWithNeighbour(kNone, 0); }
  /// `box` without the root, in boxes.
  llvm::SmallVector<Box, 8> withoutRoot(const Box& box) const;
  bool holdsRoot(const Box& box) const { return mayMeet(box, rootBox(), sizes_); }

  Region data(Buffer buffer) { return builder_.region(buffer, {{part_, 1, builder_.box({})}}); }
  Region newFrame() {
    const auto slot = static_cast<std::uint32_t>(builder_.schedule().frames.size());
    const std::uint32_t frame = builder_.addFrame({{part_, 1, builder_.box({})}}, slot);
    return wholeFrame(builder_.schedule().frames[frame], frame);
  }
  ir::StepPlace place(const Box& box) { return {stream_, builder_.box(box)}; }
  /// Those of `steps` that a node of `box` may execute.
  llvm::SmallVector<std::uint32_t, 8> meeting(llvm::ArrayRef<std::pair<Box, std::uint32_t>> steps,
                                              const Box& box) const {
    llvm::SmallVector<std::uint32_t, 8> found;
    for (const auto& [other, step] : steps) {
      if (mayMeet(other, box, sizes_)) found.push_back(step);
    }
    return found;
  }

  const Topology topology_;
  const llvm::SmallVector<TreeAxis, kMaxAxes> axes_;
  const llvm::SmallVector<std::uint32_t, kMaxAxes> sizes_;
  const TreeRule rule_;
  const RootGrid grid_;
  ir::StepBuilder builder_;
  std::uint32_t part_ = 0, stream_ = 0;
};

Box ProductTrees::rootWithNeighbour(std::uint32_t axis, int sign) const {
  Box box;
  for (std::uint32_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i] == TreeAxis::kSingle) continue;
    if (axes_[i] != TreeAxis::kLine) {
      box[i] = Interval::absolute(0);
    } else if (i != axis) {
      box[i] = Interval::root();
    } else {
      box[i] = Interval::rootWithin(sign > 0 ? 0 : 1, sizes_[i] - 1);
    }
  }
  return box;
}

llvm::SmallVector<Box, 8> ProductTrees::withoutRoot(const Box& box) const {
  llvm::SmallVector<Box, 8> boxes;
  if (!holdsRoot(box)) return {box};
  Box before = box;  // at the root on the axes that have been gone through
  const Box root = rootBox();
  for (std::uint32_t i = 0; i < axes_.size(); ++i) {
    const auto last = static_cast<std::int32_t>(sizes_[i]) - 1;
    const Interval whole = box[i];
    const auto add = [&](const Interval& interval) {
      before[i] = interval;
      boxes.push_back(before);
    };
    if (whole == root[i] || axes_[i] == TreeAxis::kSingle) continue;
    if (axes_[i] != TreeAxis::kLine) {
      const Range range = resolve(whole, 0, sizes_[i]);
      const std::uint32_t behind = (range.start + range.length - 1) % sizes_[i];
      if (range.length == sizes_[i]) {
        add(Interval::absolute(1, sizes_[i] - 1));
      } else {
        if (behind > 0) add(Interval::absolute(1, behind));
        if (range.start > 0) {
          add(Interval::absolute(static_cast<std::int32_t>(range.start), sizes_[i] - range.start));
        }
      }
    } else if (whole.kind == IntervalKind::kAll) {
      add(Interval::toRoot(0, -1));
      add(Interval::fromRoot(1, static_cast<std::uint32_t>(last)));
    } else {
      add({.kind = whole.kind,
           .start = whole.kind == IntervalKind::kFromRoot ? 1 : -1,
           .length = whole.length});
    }
    before[i] = root[i];
  }
  return boxes;
}

void ProductTrees::broadcast(llvm::ArrayRef<ArcBoxes> arcs) {
  const Region in = data(Buffer::kIn), out = data(Buffer::kOut);
  llvm::SmallVector<std::uint32_t, 4> sent;
  for (const ArcBoxes& arc : arcs) {
    if (!holdsRoot(arc.parents)) continue;
    sent.push_back(builder_.send(place(rootWithNeighbour(arc.axis, arc.sign)), in,
                                 ir::hop(arc.axis, arc.sign), {}));
  }
  // The copy waits, so that those of all segments do not keep the root busy before it sends.
  builder_.copy(place(rootBox()), out, in, sent);
  llvm::SmallVector<std::pair<Box, std::uint32_t>, 16> received;
  for (const ArcBoxes& arc : arcs) {
    received.emplace_back(
        arc.children, builder_.receive(place(arc.children), out, ir::hop(arc.axis, arc.sign), {}));
  }
  for (const ArcBoxes& arc : arcs) {
    for (const Box& box : withoutRoot(arc.parents)) {
      builder_.send(place(box), out, ir::hop(arc.axis, arc.sign), meeting(received, box));
    }
  }
}

void ProductTrees::reduce(llvm::ArrayRef<ArcBoxes> arcs) {
  const Region in = data(Buffer::kIn), sum = newFrame();
  llvm::SmallVector<std::pair<Box, std::uint32_t>, 16> sums;  // whatever changes the sum of a node
  for (const Box& box : withoutRoot({})) {
    sums.emplace_back(box, builder_.copy(place(box), sum, in, {}));
  }
  for (std::uint32_t axis = 0; axis < axes_.size(); ++axis) {
    for (const int sign : {1, -1}) {
      const auto moves = [&](const ArcBoxes& arc) { return arc.axis == axis && arc.sign == sign; };
      if (llvm::none_of(arcs, moves)) continue;
      // Boxes of one direction are disjoint, and share the place to receive into.
      const Region staging = newFrame();
      for (const ArcBoxes& arc : llvm::make_filter_range(arcs, moves)) {
        for (const Box& box : withoutRoot(arc.parents)) {
          llvm::SmallVector<std::uint32_t, 8> after = meeting(sums, box);
          after.push_back(builder_.receive(place(box), staging, ir::hop(axis, -sign), {}));
          sums.emplace_back(box, builder_.reduce(place(box), sum, sum, staging, after));
        }
      }
    }
  }
  for (const ArcBoxes& arc : arcs) {
    builder_.send(place(arc.children), sum, ir::hop(arc.axis, -arc.sign),
                  meeting(sums, arc.children));
  }
  addAtRoot(arcs);
}

/// The root adds into `out`: first to what it contributes, then to that sum.
void ProductTrees::addAtRoot(llvm::ArrayRef<ArcBoxes> arcs) {
  const Region in = data(Buffer::kIn), out = data(Buffer::kOut);
  llvm::SmallVector<std::uint32_t, 2> before;
  for (const ArcBoxes& arc : arcs) {
    if (!holdsRoot(arc.parents)) continue;
    const Shift moves = ir::hop(arc.axis, -arc.sign);
    Box box = rootWithNeighbour(arc.axis, arc.sign);
    const Region staging = newFrame();
    if (before.empty()) {
      before = {builder_.receiveAndReduce(place(box), out, in, staging, moves, {})};
      continue;
    }
    // The second child is the other neighbour on a line; there is but one at the line's ends.
    const std::uint32_t size = sizes_[arc.axis];
    const std::int32_t end = arc.sign > 0 ? 0 : static_cast<std::int32_t>(size) - 1;
    box[arc.axis] = Interval::rootWithin(end, 1);
    builder_.receiveAndReduce(place(box), out, in, staging, moves, {});
    if (size > 2) {
      box[arc.axis] = Interval::rootWithin(1, size - 2);
      before.push_back(builder_.receive(place(box), staging, moves, {}));
      builder_.reduce(place(box), out, out, staging, before);
    }
  }
}

}  // namespace

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
  ir::Program program;
  program.schedule = ProductTrees(spec).run(rowOf(spec.collective).reduces());
  return program;
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
  // Where trees of several lines cross, many different sets of nodes have been reached.
  const bool reduces = rowOf(spec.collective).reduces();
  const double of_node = lines > 1 ? (reduces ? 70'000 : 7'000) : (reduces ? 400 : 180);
  return treesSize(spec, lines + 2 * rings, of_node);
}

}  // namespace torc::compiler
