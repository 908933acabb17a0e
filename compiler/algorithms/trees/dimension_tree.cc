// The dimension-order tree. The root sends in both directions along the first axis; every node of
// that line does the same along the second axis, and so on. A ring is halved: one direction serves
// the nearer half, the other one the rest. In S chunks, one after another, a broadcast of n bytes
// takes
//   (A + S) (alpha + n beta / S),   A = sum over the axes of floor(d_i / 2),
// or, for a line, of its longer end seen from the root. Every node receives on one link and
// forwards its data: the time is n beta, for one link, plus the path. Trees on all links are faster
// by up to their number; this tree has the least cost for small messages or nodes with one port.
//
// A reduce is the mirror image: along the last axis first, sums go in both directions to the root's
// coordinate.
#include "compiler/algorithms/trees/dimension_tree.h"

#include "compiler/algorithms/trees/arc_steps.h"
#include "compiler/algorithms/trees/tree_pipeline.h"
#include "ir/make_error.h"

namespace torc::compiler {

llvm::Expected<ir::Program> lowerDimensionTree(const CollectiveSpec& spec) {
  const Topology& topology = spec.topology;
  if (topology.isDamaged()) {
    return makeError("dimension-tree: the tree cannot go round damage");
  }
  llvm::SmallVector<std::uint32_t, kMaxAxes> sizes;
  llvm::SmallVector<TreeAxis, kMaxAxes> kinds;
  bool has_line = false;
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    sizes.push_back(topology.axes[axis].size);
    kinds.push_back(sizes.back() == 1             ? TreeAxis::kSingle
                    : topology.axes[axis].wraps() ? TreeAxis::kRing
                                                  : TreeAxis::kLine);
    has_line |= kinds.back() == TreeAxis::kLine;
  }
  // A broadcast has fewer steps if the root acts like other nodes. On a line it may have no child.
  const bool is_root_apart = rowOf(spec.collective).reduces() && !has_line;
  const RootedNodes nodes(kinds, sizes, is_root_apart);
  Arcs arcs;
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    const auto last = static_cast<std::int32_t>(sizes[axis]) - 1;
    const std::int32_t up = (last + 1) / 2;
    Box box = nodes.root();
    for (std::uint32_t before = 0; before < axis; ++before)
      box[before] = Interval::all();
    const auto add = [&](int sign, const Interval& children) {
      box[axis] = children;
      arcs.push_back({axis, sign, {box}, {movedBack(box, axis, sign, sizes[axis])}});
    };
    if (kinds[axis] == TreeAxis::kLine) {
      add(1, Interval::fromRoot(1, static_cast<std::uint32_t>(last)));
      add(-1, Interval::toRoot(0, -1));
    } else if (kinds[axis] == TreeAxis::kRing) {
      add(1, Interval::absolute(1, static_cast<std::uint32_t>(up)));
      if (up < last) add(-1, Interval::absolute(up + 1, static_cast<std::uint32_t>(last - up)));
    }
  }
  return programOf(spec, arcs, nodes);
}

ProgramSize estimateDimensionTree(const CollectiveSpec& spec) {
  return treesSize(spec, 1, 30);
}

}  // namespace torc::compiler
