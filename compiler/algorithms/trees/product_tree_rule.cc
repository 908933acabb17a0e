// Applies the rule of the trees to classes of coordinates.
#include "compiler/algorithms/trees/product_tree_rule.h"

#include <algorithm>

namespace torc::compiler {
namespace {

llvm::SmallVector<std::uint32_t, kMaxAxes> sizesOf(const Topology& topology) {
  llvm::SmallVector<std::uint32_t, kMaxAxes> sizes;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i)
    sizes.push_back(topology.axes[i].size);
  return sizes;
}

}  // namespace

llvm::SmallVector<TreeAxis, kMaxAxes> treeAxes(const Topology& topology) {
  llvm::SmallVector<TreeAxis, kMaxAxes> axes;
  std::uint32_t lines = 0;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const Axis& axis = topology.axes[i];
    axes.push_back(axis.size == 1       ? TreeAxis::kSingle
                   : topology.isLine(i) ? TreeAxis::kLine
                   : axis.isRing()      ? TreeAxis::kRing
                                        : TreeAxis::kLineFromRoot);
    if (axes.back() == TreeAxis::kLine || axes.back() == TreeAxis::kLineFromRoot) ++lines;
  }
  const auto countAsLine = [&](std::uint32_t axis) {
    axes[axis] = TreeAxis::kLineFromRoot;
    ++lines;
  };
  for (std::uint32_t i = 0; i < axes.size() && lines == 1; ++i) {
    if (axes[i] == TreeAxis::kRing && topology.axes[i].size == 2) countAsLine(i);
  }
  for (std::uint32_t i = 0; i < axes.size(); ++i) {
    if (lines > 2 * llvm::count(axes, TreeAxis::kRing) && axes[i] == TreeAxis::kRing) {
      countAsLine(i);
    }
  }
  return axes;
}

TreeRule::TreeRule(const Topology& topology) : TreeRule(treeAxes(topology), sizesOf(topology)) {}

TreeRule::TreeRule(llvm::ArrayRef<TreeAxis> axes, llvm::ArrayRef<std::uint32_t> sizes)
    : axes_(axes.begin(), axes.end()), sizes_(sizes.begin(), sizes.end()) {
  for (std::uint32_t i = 0; i < axes.size(); ++i) {
    if (axes[i] == TreeAxis::kRing) {
      rings_.push_back(i);
      is_pair_.push_back(sizes[i] == 2);
    }
    if (axes[i] == TreeAxis::kLine || axes[i] == TreeAxis::kLineFromRoot) lines_.push_back(i);
  }
}

/// On a ring of two the root has the same child in both trees: neither is the other's partner, and
/// their partners differ.
std::uint32_t TreeRule::partner(std::uint32_t tree) const {
  const auto rings = static_cast<std::uint32_t>(rings_.size());
  const auto lines = static_cast<std::uint32_t>(lines_.size());
  const std::uint32_t first = tree % lines;
  if (tree < rings || !is_pair_[tree - rings]) return first;
  const std::uint32_t other = tree - rings < lines ? tree - rings : partner(tree - rings);
  return first == other ? (first + 1) % lines : first;
}

TreeHop TreeRule::alongRings(std::uint32_t tree, RootClasses at) const {
  const std::uint32_t first = firstAxis(tree);
  TreeHop hop{rings_[first], sign(tree)};
  if (at[hop.axis] == RootClass::kAtRoot) return hop;
  for (std::uint32_t i = 0; i < rings_.size(); ++i) {
    const std::uint32_t axis = rings_[(first + i) % rings_.size()];
    if (at[axis] != RootClass::kAtRoot) hop.axis = axis;
  }
  return hop;
}

TreeHop TreeRule::alongLines(std::uint32_t tree, RootClasses at) const {
  TreeHop hop{lines_[tree], 0};
  if (at[hop.axis] == RootClass::kAtRoot) return hop;
  for (std::uint32_t i = 0; i < lines_.size(); ++i) {
    const std::uint32_t axis = lines_[(tree + i) % lines_.size()];
    if (at[axis] != RootClass::kAtRoot) hop = {axis, at[axis] == RootClass::kBelow ? -1 : 1};
  }
  return hop;
}

bool TreeRule::isRootsChild(std::uint32_t tree, RootClasses at) const {
  const std::uint32_t first = rings_[firstAxis(tree)];
  return llvm::all_of(rings_, [&](std::uint32_t axis) {
    const bool up = sign(tree) > 0 || is_pair_[firstAxis(tree)];
    return at[axis] == (axis != first ? RootClass::kAtRoot
                        : up          ? RootClass::kNext
                                      : RootClass::kLast);
  });
}

std::uint32_t TreeRule::childOfPartner(std::uint32_t tree, RootClasses at) const {
  for (std::uint32_t other = static_cast<std::uint32_t>(lines_.size()); other < ringTrees();
       ++other) {
    if (partner(other) == tree && isRootsChild(other, at)) return other;
  }
  return kNone;
}

TreeHop TreeRule::into(std::uint32_t tree, RootClasses at) const {
  const bool on_rings = !isAtRoot(rings_, at), on_lines = !isAtRoot(lines_, at);
  if (tree >= ringTrees()) {
    const std::uint32_t line = tree - ringTrees();
    if (!on_rings) return alongLines(line, at);
    if (!on_lines) return {lines_[line], 0};
    const std::uint32_t other = childOfPartner(line, at);
    return alongRings(other != kNone ? other : line, at);
  }
  if (!on_lines) return alongRings(tree, at);
  if (!on_rings) return {rings_[firstAxis(tree)], -sign(tree)};
  if (tree < lines_.size()) {
    return childOfPartner(tree, at) != kNone ? alongRings(tree, at) : alongLines(tree, at);
  }
  return isRootsChild(tree, at) ? alongLines(partner(tree), at) : alongRings(tree, at);
}

TreeHop TreeRule::into(std::uint32_t tree, const Coordinates& at, const Coordinates& root) const {
  llvm::SmallVector<RootClass, kMaxAxes> classes;
  for (std::uint32_t axis = 0; axis < axes_.size(); ++axis)
    classes.push_back(classOf(axes_[axis], at[axis], root[axis], sizes_[axis]));
  TreeHop hop = into(tree, classes);
  const auto last = static_cast<std::int32_t>(sizes_[hop.axis]) - 1;
  if (hop.sign == 0)
    hop.sign = axes_[hop.axis] == TreeAxis::kLine && root[hop.axis] == last ? 1 : -1;
  return hop;
}

Arcs TreeRule::arcs(std::uint32_t tree) const {
  const RootGrid grid(axes_, sizes_);
  // The axes in the order of the tree's path, beginning with its own.
  const bool of_ring = tree < ringTrees();
  auto order = of_ring ? rings_ : lines_, behind = of_ring ? lines_ : rings_;
  std::rotate(order.begin(), order.begin() + (of_ring ? firstAxis(tree) : tree - ringTrees()),
              order.end());
  order.append(behind);
  Arcs arcs;
  const auto add = [&](std::uint32_t axis, int sign, const Box& children) {
    arcs.push_back({axis, sign, {children}, {movedBack(children, axis, sign, sizes_[axis])}});
  };
  for (const std::uint32_t axis : order) {
    for (const int sign : {1, -1, 0}) {
      for (const Box& box : grid.cover([&](RootClasses at) {
             return llvm::any_of(at, [](RootClass of) { return of != RootClass::kAtRoot; }) &&
                    into(tree, at) == TreeHop{axis, sign};
           })) {
        if (sign != 0 || axes_[axis] != TreeAxis::kLine) {
          add(axis, sign != 0 ? sign : -1, box);
          continue;
        }
        Box children = box;
        children[axis] = Interval::rootWithin(0, sizes_[axis] - 1);
        add(axis, -1, children);
        children[axis] = Interval::rootWithin(static_cast<std::int32_t>(sizes_[axis]) - 1, 1);
        add(axis, 1, children);
      }
    }
  }
  return arcs;
}

}  // namespace torc::compiler
