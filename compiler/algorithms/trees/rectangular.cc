// The rectangular trees ("Improving Communication Performance in Dense Linear Algebra via Topology
// Aware Collectives", section 3: multicast and reduction along edge-disjoint spanning trees), by a
// closed rule. On a torus of N axes there are 2N trees, of color (i, s): an axis and a direction,
// +1 or -1. With off_j = s x_j modulo d_j, x counted from the root, the parent of x is one step
// back, at -s, along
//   the last axis in the cyclic order i, i+1, ..., i-1 on which off is not 0,   if off_i is not 0,
//   axis i,                                                                    if it is.
// A node is reached along a different arc in each tree: they are arc-disjoint, and use every arc
// except those into the root. Each out-arc of the root begins one tree. So each of 2N parts of the
// data loads every link once, n/(2N), the lower bound of a broadcast. The deepest node is
// sum(d_i - 1) + 1 hops away; in S segments, one after another, n bytes take
//   (A + S) (alpha + n beta / (2 N S)),   A = sum(d_i - 1).
//
// The nodes of each tree are sorted into classes, which are boxes, by the axis of their last hop:
//   line m, m = 0 .. N-1   off_i and, for m > 0, off of the m-th axis in the order are not 0,
//                          off of later axes is; the parent is back along that axis
//   wrap m, m = 1 .. N-1   off_i is 0, off of the m-th axis is not, off of later axes is; the
//                          parent is back along i, where off_i is d_i - 1. These are leaves.
#include "compiler/algorithms/trees/rectangular.h"

#include <algorithm>

#include <llvm/ADT/SmallVector.h>

#include "compiler/algorithms/trees/arc_steps.h"
#include "compiler/algorithms/trees/tree_pipeline.h"
#include "ir/make_error.h"
#include "passes/analysis/plan_axes.h"

namespace torc::compiler {
namespace {

/// Nodes of a box by their distance `off` from an origin, in the direction of a tree.
class TreeBoxes {
 public:
  TreeBoxes(const Topology& topology, llvm::ArrayRef<std::uint32_t> order, int sign,
            const Coordinates& origin, const Box& all)
      : topology_(topology), order_(order), sign_(sign), origin_(origin), all_(all) {}

  std::uint32_t size(std::uint32_t m) const { return topology_.axes[order_[m]].size; }

  /// Nodes of line m with off from `first` to `last` on its axis.
  Box line(std::uint32_t m, std::uint32_t first, std::uint32_t last) const {
    Box box = all_;
    if (m > 0) box = with(box, 0, 1, size(0) - 1);
    return withZeroBehind(with(box, m, first, last), m);
  }
  /// Nodes of wrap m, or (`parents`) their parents.
  Box wrapped(std::uint32_t m, bool parents) const {
    const std::uint32_t off = parents ? size(0) - 1 : 0;
    return withZeroBehind(with(with(all_, 0, off, off), m, 1, size(m) - 1), m);
  }

 private:
  /// `box` with off from `first` to `last` on the m-th axis of the order; precondition: first <=
  /// last.
  Box with(Box box, std::uint32_t m, std::uint32_t first, std::uint32_t last) const {
    const std::int64_t start =
        origin_[order_[m]] + (sign_ > 0 ? std::int64_t{first} : -std::int64_t{last});
    box[order_[m]] =
        Interval::absolute(static_cast<std::int32_t>(wrap(start, size(m))), last - first + 1);
    return box;
  }
  /// `box` with off = 0 on the axes after the m-th.
  Box withZeroBehind(Box box, std::uint32_t m) const {
    for (std::uint32_t k = m + 1; k < order_.size(); ++k)
      box = with(box, k, 0, 0);
    return box;
  }

  const Topology& topology_;
  llvm::ArrayRef<std::uint32_t> order_;
  const int sign_;
  const Coordinates origin_;
  const Box all_;
};

}  // namespace

Arcs rectangularArcs(const Topology& topology, llvm::ArrayRef<std::uint32_t> order, int sign,
                     const Coordinates& origin, const Box& all) {
  Arcs arcs;
  if (order.empty()) return arcs;
  const TreeBoxes boxes(topology, order, sign, origin, all);
  const auto last = static_cast<std::uint32_t>(order.size()) - 1;
  for (std::uint32_t m = 0; m <= last; ++m) {
    const std::uint32_t size = boxes.size(m);
    arcs.push_back({order[m], sign, {boxes.line(m, 1, size - 1)}, {boxes.line(m, 0, size - 2)}});
  }
  for (std::uint32_t m = 1; m <= last; ++m)
    arcs.push_back({order[0], sign, {boxes.wrapped(m, false)}, {boxes.wrapped(m, true)}});
  return arcs;
}

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
  const Topology& topology = spec.topology;
  llvm::SmallVector<std::uint32_t, kMaxAxes> axes, sizes;  // axes of more than one node
  llvm::SmallVector<TreeAxis, kMaxAxes> kinds;
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    sizes.push_back(topology.axes[axis].size);
    kinds.push_back(sizes.back() > 1 ? TreeAxis::kRing : TreeAxis::kSingle);
    if (sizes.back() > 1) axes.push_back(axis);
  }
  std::vector<Arcs> trees;
  for (std::size_t tree = 0; tree < 2 * axes.size(); ++tree) {
    auto order = axes;
    std::rotate(order.begin(), order.begin() + tree / 2, order.end());
    trees.push_back(rectangularArcs(topology, order, tree % 2 == 0 ? 1 : -1));
  }
  return programOf(spec, trees, RootedNodes(kinds, sizes));
}

ProgramSize estimateRectangular(const CollectiveSpec& spec) {
  const double axes = static_cast<double>(passes::networkAxes(spec.topology).size());
  return treesSize(spec, 2 * axes,
                   (rowOf(spec.collective).reduces() ? 120 : 30) * std::max(axes * axes, 1.0));
}

}  // namespace torc::compiler
