// One axis is cut at the dead node's coordinate. There is its plane; the remaining planes are
// complete and form a line, the core. If the root lies in the core, the core has the product trees
// (trees/product_tree_rule.h) of the other rings and the line left of the cut one. Their number is
// 2N - 1, or 2N - 2 if an axis has two nodes, as many as the links of a node beside the dead one.
// They bring every part to all nodes beside the plane, and these forward them into it. So each
// part, 1/(2N - 1) of the data, loads every link once: the lower bound.
//
// If the root lies in the plane, another axis is cut: the root is not the dead node, so they differ
// on some axis. One program has all cuts, with guards for their roots (IntervalKind::kForRoots).
// Coordinates are those of the machine.
//
// Reduction is the mirror image: sums of the plane's nodes come first, and continue with those of
// the nodes beside it. Every node including the root accumulates in one frame.
#include "compiler/algorithms/planes/plane_trees.h"

#include <algorithm>
#include <optional>

#include <llvm/ADT/STLExtras.h>

#include "compiler/algorithms/planes/dead_plane.h"
#include "compiler/algorithms/trees/arc_steps.h"
#include "compiler/algorithms/trees/product_tree_rule.h"
#include "ir/make_error.h"
#include "ir/step_builder.h"
#include "passes/analysis/plan_axes.h"

namespace torc::compiler {
namespace {

using Axes = llvm::SmallVector<std::uint32_t, kMaxAxes>;

/// The axes of more than one node, in the order of cuts: the cut of a longer axis leaves more
/// complete planes.
Axes cutsOf(const Topology& topology) {
  Axes axes = passes::networkAxes(topology);
  std::stable_sort(axes.begin(), axes.end(), [&](std::uint32_t a, std::uint32_t b) {
    return topology.axes[a].size > topology.axes[b].size;
  });
  return axes;
}

/// The core of a cut: the torus without the plane, with the cut axis as a line.
struct Core {
  Topology topology;
  llvm::SmallVector<TreeAxis, kMaxAxes> axes;
  llvm::SmallVector<std::uint32_t, kMaxAxes> sizes;
  Core(const Topology& whole, std::uint32_t cut) : topology(whole) {
    topology.dead_node_count = 0;
    topology.axes[cut].kind = AxisKind::kMesh;
    --topology.axes[cut].size;
    // treeAxes would take a line of two for a ring with one cable.
    const bool is_pair = topology.axes[cut].size == 2;
    if (is_pair) topology.axes[cut].size = 3;
    axes = treeAxes(topology);
    if (is_pair) topology.axes[cut].size = 2;
    for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis)
      sizes.push_back(topology.axes[axis].size);
  }
};

/// The roots of a cut; `before`: the axes cut for other roots, on which these are in the dead
/// node's plane.
Box rootsOfCut(const Topology& topology, llvm::ArrayRef<std::uint32_t> before, std::uint32_t cut) {
  const Coordinates dead = topology.deadNodes().front();
  Box roots;
  for (const std::uint32_t axis : before)
    roots[axis] = Interval::absolute(dead[axis]);
  const std::uint32_t size = topology.axes[cut].size;
  roots[cut] = Interval::absolute(
      static_cast<std::int32_t>(wrap(std::int64_t{dead[cut]} + 1, size)), size - 1);
  return roots;
}

/// The nodes of the torus for the roots with the same cut axis.
class CutGuards : public RootGuards {
 public:
  CutGuards(const Topology& topology, llvm::ArrayRef<std::uint32_t> before, std::uint32_t cut)
      : RootGuards(topology, rootsOfCut(topology, before, cut)), cut_(cut) {}

  /// Converts a box of the core with coordinates of trees from a root: std::nullopt if it is empty
  /// for all roots.
  std::optional<Box> core(const Box& box, llvm::ArrayRef<TreeAxis> axes) const {
    bool is_empty = false;
    Box others = box;
    others[cut_] = {};
    Box made = fromRoot(others);
    made[cut_] = onLine(box[cut_], axes[cut_], is_empty);
    return is_empty ? std::nullopt : std::optional(made);
  }

 private:
  std::int32_t dead(std::uint32_t axis) const { return topology_.deadNodes().front()[axis]; }
  std::uint16_t at(std::uint32_t axis, std::int64_t coordinate) const {
    return static_cast<std::uint16_t>(wrap(coordinate, size(axis)));
  }

  /// Converts an interval of the line, which begins after the dead node's coordinate.
  Interval onLine(const Interval& interval, TreeAxis axis, bool& is_empty) const {
    RootSpan span = roots_[cut_];
    const std::int64_t last = std::int64_t{size(cut_)} - 2;  // of the line
    std::int64_t from = 0, to = last;                        // roots, on the line
    const auto place = [&](std::int64_t coordinate) {
      return at(cut_, dead(cut_) + 1 + coordinate);
    };
    const auto setFirst = [&](bool from_root, std::int64_t end) {
      span.first_from_root = from_root;
      span.first = static_cast<std::int16_t>(from_root ? end : place(end));
    };
    const auto setLast = [&](bool from_root, std::int64_t end) {
      span.last_from_root = from_root;
      span.last = static_cast<std::int16_t>(from_root ? end : place(end));
    };
    const std::int64_t offset = interval.start;
    const auto end = std::int64_t{static_cast<std::int32_t>(interval.length)};
    if (axis != TreeAxis::kLine || interval.kind == IntervalKind::kAll) {
      setFirst(false, 0);
      setLast(false, last);
    } else if (interval.kind == IntervalKind::kToRoot) {
      setFirst(false, end);
      setLast(true, offset);
      from = std::max<std::int64_t>(0, end - offset);
    } else if (interval.kind == IntervalKind::kFromRoot) {
      setFirst(true, offset);
      setLast(false, end);
      to = std::min(last, end - offset);
    } else {  // the root's coordinate, or a neighbour
      const bool within = interval.kind == IntervalKind::kRootWithin;
      setFirst(true, within ? 0 : offset);
      setLast(true, within ? 0 : offset);
      from = std::max<std::int64_t>(0, within ? offset : -offset);
      to = std::min(last, within ? offset + end - 1 : last - offset);
    }
    is_empty |= from > to;
    span.from = place(from);
    span.to = place(to);
    return Interval::forRoots(span);
  }

  const std::uint32_t cut_;
};

/// The number of parts that the trees of every cut have.
std::uint32_t partsOf(const Topology& topology) {
  std::uint32_t parts = kNone;
  for (const std::uint32_t cut : cutsOf(topology)) {
    const Core core(topology, cut);
    const std::uint32_t trees = TreeRule(core.axes, core.sizes).trees();
    parts = std::min({parts, DeadPlane(topology, cut).mostParts(), std::max(1u, trees)});
  }
  return parts == kNone ? 1 : parts;
}

/// The arcs of a part in the core, then those in the plane of the dead node.
Arcs arcsOf(const DeadPlane& plane, const Core& core, const CutGuards& guards, bool reduces,
            std::uint32_t part, std::uint32_t parts) {
  Arcs arcs;
  const TreeRule rule(core.axes, core.sizes);
  if (part < rule.trees()) {
    for (const ArcBoxes& arc : rule.arcs(part)) {
      const std::optional<Box> children = guards.core(arc.children.front(), core.axes);
      const std::optional<Box> parents = guards.core(arc.parents.front(), core.axes);
      if (children && parents) arcs.push_back({arc.axis, arc.hops, {*children}, {*parents}});
    }
  }
  const auto in_core = static_cast<std::ptrdiff_t>(arcs.size());
  for (const ArcBoxes& arc : plane.arcs(part, parts)) {
    arcs.push_back({arc.axis,
                    arc.hops,
                    {guards.absolute(arc.children.front())},
                    {guards.absolute(arc.parents.front())}});
  }
  // Sums of the plane come first, so that proofs know the changes at the root's place in the core.
  if (reduces) std::rotate(arcs.begin(), arcs.begin() + in_core, arcs.end());
  return arcs;
}

}  // namespace

bool suitsPlaneTrees(const Topology& topology) {
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const Axis& axis = topology.axes[i];
    if (axis.size > kMostOfRootSpan || (axis.size > 1 && !axis.isRing())) return false;
  }
  return topology.dead_node_count == 1 && topology.deadLinks().empty();
}

llvm::Expected<ir::Program> lowerPlaneTrees(const CollectiveSpec& spec) {
  if (!suitsPlaneTrees(spec.topology)) {
    return makeError("plane trees: they need a ring along every axis, and one dead node");
  }
  const Topology& topology = spec.topology;
  const std::uint32_t parts = partsOf(topology);
  const bool reduces = rowOf(spec.collective).reduces();
  Schedule header = ir::scheduleHeader(spec.collective, topology, parts);
  header.flags |= kDropsBroken;
  ir::StepBuilder builder(std::move(header));
  std::vector<ArcSteps> steps;
  for (std::uint32_t part = 0; part < parts; ++part)
    steps.emplace_back(builder, part);
  const Axes cuts = cutsOf(topology);
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    const CutGuards guards(topology, llvm::ArrayRef(cuts).take_front(i), cuts[i]);
    const DeadPlane plane(topology, cuts[i]);
    const Core core(topology, cuts[i]);
    for (std::uint32_t part = 0; part < parts; ++part) {
      const Arcs arcs = arcsOf(plane, core, guards, reduces, part, parts);
      if (reduces) {
        steps[part].reduce(arcs, guards);
      } else {
        steps[part].broadcast(arcs, guards);
      }
    }
  }
  ir::Program program;
  program.schedule = builder.take();
  return program;
}

TreePipeline planeTreesPipeline(const Topology& topology) {
  TreePipeline pipeline{0, 1.0 / partsOf(topology)};
  for (const std::uint32_t cut : cutsOf(topology)) {
    double hops = DeadPlane(topology, cut).depth() - 1.0;
    for (std::uint32_t i = 0; i < topology.axis_count; ++i)
      hops += topology.axes[i].size - 1;
    pipeline.hops = std::max(pipeline.hops, hops);
  }
  return pipeline;
}

ProgramSize estimatePlaneTrees(const CollectiveSpec& spec) {
  const auto cuts = static_cast<double>(cutsOf(spec.topology).size());
  const double operations = treesSize(spec, 2 * cuts * cuts, 0).operations;
  // Proofs of about 32 roots each take 7 steps, of half the usual time, for each operation and each
  // coordinate of an axis.
  return treesSize(spec, 2 * cuts * cuts, 32 * 3.5 * operations);
}

}  // namespace torc::compiler
