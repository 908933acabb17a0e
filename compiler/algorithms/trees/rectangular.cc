// The rectangular trees ("Improving Communication Performance in Dense Linear Algebra via Topology
// Aware Collectives", section 3: multicast and reduction along edge-disjoint spanning trees), by a
// closed rule. On a torus of N axes there are 2N trees, of color (i, s): an axis and a direction,
// +1 or -1. With off_j = s x_j modulo d_j, x counted from the root, the parent of x is one step
// back, at -s, along
//   the last axis in the cyclic order i, i+1, ..., i-1 on which off is not 0,   if off_i is not 0,
//   axis i,                                                                    if it is.
// A node is reached along a different arc in each tree: they are arc-disjoint, and use every arc
// but those into the root, whose out-arcs begin one tree each. So each of 2N parts of the data
// loads every link once, n/(2N), which is the bound of a broadcast. The deepest node is
// sum(d_i - 1) + 1 hops away; in S segments, one behind the other, n bytes take
//   (A + S) (alpha + n beta / (2 N S)),   A = sum(d_i - 1).
//
// Of each tree the nodes are sorted into classes, which are boxes, by the axis of their last hop:
//   line m, m = 0 .. N-1   off_i and, for m > 0, off of the m-th axis in the order are not 0,
//                          those behind it are; the parent is back along that axis
//   wrap m, m = 1 .. N-1   off_i is 0, that of the m-th axis is not, those behind it are; the
//                          parent is back along i, where off_i is d_i - 1. These are leaves.
//
// Reduction is the mirror image: sums go from the leaves to the root. They grow in one frame at
// each node, first where the most nodes have a child, along the last axis of the order; a node
// without a child sends what it contributes as it lies. The root has one child in each tree, and
// sends from `in`, adds into `out`: no copy stands in the way.
#include "compiler/algorithms/trees/rectangular.h"

#include <llvm/ADT/SmallVector.h>

#include "compiler/algorithms/trees/tree_pipeline.h"
#include "ir/make_error.h"
#include "ir/step_builder.h"
#include "passes/analysis/plan_axes.h"

namespace torc::compiler {
namespace {

/// Nodes by their distance `off` from the root, in the direction of a tree.
class TreeBoxes {
 public:
  TreeBoxes(const Topology& topology, llvm::ArrayRef<std::uint32_t> order, int sign)
      : topology_(topology), order_(order), sign_(sign) {}

  std::uint32_t size(std::uint32_t m) const { return topology_.axes[order_[m]].size; }

  /// `box` with off from `first` to `last`, not less, on the m-th axis of the order.
  Box with(Box box, std::uint32_t m, std::uint32_t first, std::uint32_t last) const {
    const std::int64_t start = sign_ > 0 ? std::int64_t{first} : -std::int64_t{last};
    box[order_[m]] =
        Interval::absolute(static_cast<std::int32_t>(wrap(start, size(m))), last - first + 1);
    return box;
  }
  /// `box` with off = 0 on the axes behind the m-th.
  Box withZeroBehind(Box box, std::uint32_t m) const {
    for (std::uint32_t k = m + 1; k < order_.size(); ++k)
      box = with(box, k, 0, 0);
    return box;
  }
  /// Nodes of line m with off from `first` to `last` on its axis.
  Box line(std::uint32_t m, std::uint32_t first, std::uint32_t last) const {
    Box box;
    if (m > 0) box = with(box, 0, 1, size(0) - 1);
    return withZeroBehind(with(box, m, first, last), m);
  }
  /// Nodes of wrap m, or (`parents`) those before them.
  Box wrapped(std::uint32_t m, bool parents) const {
    const std::uint32_t off = parents ? size(0) - 1 : 0;
    return withZeroBehind(with(with({}, 0, off, off), m, 1, size(m) - 1), m);
  }

 private:
  const Topology& topology_;
  llvm::ArrayRef<std::uint32_t> order_;
  const int sign_;
};

class RectangularSteps {
 public:
  explicit RectangularSteps(const CollectiveSpec& spec)
      : topology_(spec.topology),
        reduces_(rowOf(spec.collective).reduces()),
        builder_(header(spec)) {
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      if (topology_.axes[axis].size > 1) axes_.push_back(axis);
    }
  }

  Schedule run() {
    if (axes_.empty()) {
      builder_.copy({stream(0), kNone}, data(Buffer::kOut, 0), data(Buffer::kIn, 0), {});
      return builder_.take();
    }
    std::uint32_t part = 0;
    for (std::uint32_t first = 0; first < axes_.size(); ++first) {
      llvm::SmallVector<std::uint32_t, kMaxAxes> order(axes_.begin() + first, axes_.end());
      order.append(axes_.begin(), axes_.begin() + first);
      for (const int sign : {1, -1}) {
        const Tree tree{TreeBoxes(topology_, order, sign), order, sign, part, stream(part)};
        if (reduces_) {
          reduce(tree);
        } else {
          broadcast(tree);
        }
        ++part;
      }
    }
    return builder_.take();
  }

 private:
  struct Tree {
    TreeBoxes boxes;
    llvm::ArrayRef<std::uint32_t> order;
    int sign;
    std::uint32_t part, stream;
    std::uint32_t last() const { return static_cast<std::uint32_t>(order.size()) - 1; }
  };

  /// A color for each tree; in each the blocks lie in rank order, for all move together.
  static Schedule header(const CollectiveSpec& spec) {
    std::uint32_t moving = 0;
    for (std::uint32_t axis = 0; axis < spec.topology.axis_count; ++axis)
      moving += spec.topology.axes[axis].size > 1;
    return ir::scheduleHeader(spec.collective, spec.topology, moving > 0 ? 2 * moving : 1);
  }

  std::uint32_t stream(std::uint32_t part) { return builder_.addStream({part, 0}); }
  Region data(Buffer buffer, std::uint32_t part) {
    return builder_.region(buffer, {{part, 1, builder_.box({})}});
  }
  ir::StepPlace place(const Tree& tree, const Box& box) { return {tree.stream, builder_.box(box)}; }

  void broadcast(const Tree& tree);
  void reduce(const Tree& tree);
  std::uint32_t add(const Tree& tree, const Box& box, const Region& dst, const Region& before,
                    const Shift& moves, llvm::ArrayRef<std::uint32_t> after);

  const Topology topology_;
  const bool reduces_;
  ir::StepBuilder builder_;
  llvm::SmallVector<std::uint32_t, kMaxAxes> axes_;  // of more than one node
};

void RectangularSteps::broadcast(const Tree& tree) {
  const TreeBoxes& boxes = tree.boxes;
  const Region out = data(Buffer::kOut, tree.part), in = data(Buffer::kIn, tree.part);
  const ir::StepPlace root = place(tree, boxes.line(0, 0, 0));
  // The copy waits, so that those of all segments do not keep the root busy before it sends.
  const std::uint32_t sent = builder_.send(root, in, ir::hop(tree.order[0], tree.sign), {});
  builder_.copy(root, out, in, {sent});
  // Whichever of them a node of a line executes has brought it the data.
  llvm::SmallVector<std::uint32_t, 8> has_data;
  for (std::uint32_t m = 0; m <= tree.last(); ++m) {
    const Shift moves = ir::hop(tree.order[m], tree.sign);
    const std::uint32_t size = boxes.size(m), nearest = m == 0 ? 1 : 0;
    has_data.push_back(builder_.receive(place(tree, boxes.line(m, 1, size - 1)), out, moves, {}));
    if (nearest > size - 2) continue;
    builder_.send(place(tree, boxes.line(m, nearest, size - 2)), out, moves, has_data);
  }
  const Shift around = ir::hop(tree.order[0], tree.sign);
  for (std::uint32_t m = 1; m <= tree.last(); ++m) {
    builder_.receive(place(tree, boxes.wrapped(m, false)), out, around, {});
    builder_.send(place(tree, boxes.wrapped(m, true)), out, around,
                  llvm::ArrayRef(has_data).take_front(m + 1));
  }
}

/// dst = `before` + what is received; the index of the addition. A receive does not wait for what
/// the addition waits for.
std::uint32_t RectangularSteps::add(const Tree& tree, const Box& box, const Region& dst,
                                    const Region& before, const Shift& moves,
                                    llvm::ArrayRef<std::uint32_t> after) {
  const auto slot = static_cast<std::uint32_t>(builder_.schedule().frames.size());
  const std::uint32_t frame = builder_.addFrame({{tree.part, 1, builder_.box({})}}, slot);
  const Region staging = wholeFrame(builder_.schedule().frames[frame], frame);
  if (after.empty()) {
    return builder_.receiveAndReduce(place(tree, box), dst, before, staging, moves, {});
  }
  llvm::SmallVector<std::uint32_t, 8> both(after.begin(), after.end());
  both.push_back(builder_.receive(place(tree, box), staging, moves, {}));
  return builder_.reduce(place(tree, box), dst, before, staging, both);
}

void RectangularSteps::reduce(const Tree& tree) {
  const TreeBoxes& boxes = tree.boxes;
  const Region in = data(Buffer::kIn, tree.part);
  const auto slot = static_cast<std::uint32_t>(builder_.schedule().frames.size());
  const std::uint32_t frame = builder_.addFrame({{tree.part, 1, builder_.box({})}}, slot);
  const Region sum = wholeFrame(builder_.schedule().frames[frame], frame);
  const std::uint32_t last = tree.last();
  const std::uint32_t size = boxes.size(0), last_size = boxes.size(last);
  const Shift around = ir::hop(tree.order[0], -tree.sign);
  const auto send = [&](const Box& box, const Region& what, const Shift& moves,
                        llvm::ArrayRef<std::uint32_t> after) {
    builder_.send(place(tree, box), what, moves, after);
  };
  // Whichever of them a node executes adds to its sum.
  llvm::SmallVector<std::uint32_t, 8> sums;

  // The leaves: those of the wraps, and the far end of the last axis, but where it has a wrap.
  for (std::uint32_t m = 1; m <= last; ++m)
    send(boxes.wrapped(m, false), in, around, {});
  const Shift back = ir::hop(tree.order[last], -tree.sign);
  const Box end = boxes.line(last, last_size - 1, last_size - 1);
  if (last == 0) {
    send(end, in, back, {});
  } else if (size > 2) {
    send(boxes.with(end, 0, 1, size - 2), in, back, {});
  }

  if (last > 0) {
    const Box parents = boxes.wrapped(last, true);
    const Box far = boxes.with(parents, last, last_size - 1, last_size - 1);
    sums.push_back(add(tree, boxes.line(last, 0, last_size - 2), sum, in, back, {}));
    sums.push_back(add(tree, far, sum, in, around, {}));
    if (last_size > 2) {
      const Box inner = boxes.with(parents, last, 1, last_size - 2);
      sums.push_back(add(tree, inner, sum, sum, around, sums));
      send(boxes.line(last, 1, last_size - 2), sum, back, sums);
    }
    send(far, sum, back, sums);
    for (std::uint32_t m = last - 1; m > 0; --m) {
      const Shift moves = ir::hop(tree.order[m], -tree.sign);
      const std::uint32_t far_end = boxes.size(m) - 1;
      sums.push_back(add(tree, boxes.wrapped(m, true), sum, sum, around, sums));
      sums.push_back(add(tree, boxes.line(m, 0, far_end - 1), sum, sum, moves, sums));
      send(boxes.line(m, 1, far_end), sum, moves, sums);
    }
  }
  // The line of the root.
  if (size > 2) {
    const Region& before = last > 0 ? sum : in;
    sums.push_back(add(tree, boxes.line(0, 1, size - 2), sum, before, around, sums));
  }
  if (last > 0) {
    send(boxes.line(0, 1, size - 1), sum, around, sums);
  } else if (size > 2) {
    send(boxes.line(0, 1, size - 2), sum, around, sums);
  }
  add(tree, boxes.line(0, 0, 0), data(Buffer::kOut, tree.part), in, around, {});
}

}  // namespace

bool suitsRectangular(const Topology& topology) {
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const Axis& axis = topology.axes[i];
    if (axis.size > 1 && (!axis.isRing() || axis.kind == AxisKind::kCore)) return false;
  }
  return !topology.isDamaged();
}

llvm::Expected<ir::Program> lowerRectangular(const CollectiveSpec& spec) {
  if (!suitsRectangular(spec.topology)) {
    return makeError("rectangular: the trees need a ring along every axis, and no damage");
  }
  ir::Program program;
  program.schedule = RectangularSteps(spec).run();
  return program;
}

ProgramSize estimateRectangular(const CollectiveSpec& spec) {
  const double axes = static_cast<double>(passes::networkAxes(spec.topology).size());
  return treesSize(spec, 2 * axes,
                   (rowOf(spec.collective).reduces() ? 120 : 30) * std::max(axes * axes, 1.0));
}

}  // namespace torc::compiler
