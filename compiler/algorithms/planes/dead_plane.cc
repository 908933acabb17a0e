#include "compiler/algorithms/planes/dead_plane.h"

#include <algorithm>
#include <set>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/STLFunctionalExtras.h>

#include "compiler/algorithms/trees/rectangular.h"

namespace torc::compiler {

DeadPlane::DeadPlane(const Topology& topology, std::uint32_t across)
    : topology_(topology), dead_(topology.deadNodes().front()), across_(across) {
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    if (axis != across && size(axis) > 1) axes_.push_back(axis);
  }
  std::vector<Tree> alike;  // on axes of two nodes, equal to another tree in trees_
  for (const int sign : {1, -1}) {
    for (std::uint32_t i = 0; i < axes_.size(); ++i)
      (sign < 0 && size(axes_[i]) == 2 ? alike : trees_).push_back({i, sign});
  }
  most_used_ = trees_.size();
  trees_.insert(trees_.end(), alike.begin(), alike.end());
  const auto has_spares = [&](std::size_t used) {
    return std::all_of(trees_.begin(), trees_.begin() + static_cast<std::ptrdiff_t>(used),
                       [&](const Tree& tree) { return spare(tree, used) != nullptr; });
  };
  while (!has_spares(most_used_))
    --most_used_;
}

std::uint32_t DeadPlane::mostParts() const {
  return axes_.empty() ? kNone : 2 + static_cast<std::uint32_t>(most_used_);
}

std::uint32_t DeadPlane::depth() const {
  std::uint32_t messages = 2;
  for (const std::uint32_t axis : axes_)
    messages += size(axis) - 1;
  return messages;
}

const DeadPlane::Tree* DeadPlane::spare(const Tree& tree, std::size_t used) const {
  for (std::size_t i = used; i < trees_.size(); ++i) {
    if (trees_[i].first != tree.first || size(axes_[tree.first]) > 2) return &trees_[i];
  }
  return nullptr;
}

Box DeadPlane::with(Box box, std::uint32_t axis, int sign, std::uint32_t first,
                    std::uint32_t last) const {
  const std::int64_t start =
      std::int64_t{dead_[axis]} + (sign > 0 ? std::int64_t{first} : -std::int64_t{last});
  const std::uint32_t length = last - first + 1;
  box[axis] = length == size(axis)
                  ? Interval::all()
                  : Interval::absolute(static_cast<std::int32_t>(wrap(start, size(axis))), length);
  return box;
}

Box DeadPlane::childOf(const Tree& tree) const {
  Box box = with({}, across_, 1, 0, 0);
  for (std::uint32_t m = 0; m < axes_.size(); ++m)
    box = with(box, axisOf(tree, m), tree.sign, m == 0 ? 1 : 0, m == 0 ? 1 : 0);
  return box;
}

/// The plane without the dead node and its children in the first `used` trees.
std::vector<Box> DeadPlane::withoutChildren(std::size_t used) const {
  std::vector<Box> boxes, out{with({}, across_, 1, 0, 0)};
  for (const std::uint32_t axis : axes_)
    out.front() = with(out.front(), axis, 1, 0, 0);
  for (std::size_t i = 0; i < used; ++i)
    out.push_back(childOf(trees_[i]));
  // Recurses over the coordinates of excluded nodes along one axis; all other coordinates are
  // included.
  const auto add = [&](auto&& self, Box box, std::size_t m, const std::vector<Box>& left) -> void {
    if (left.empty()) return boxes.push_back(box);
    if (m == axes_.size()) return;
    const std::uint32_t axis = axes_[m];
    std::set<std::int32_t> at;
    for (const Box& node : left)
      at.insert(node[axis].start);
    for (auto it = at.begin(); it != at.end(); ++it) {
      const std::int32_t next = std::next(it) != at.end() ? *std::next(it) : *at.begin();
      const std::uint32_t between = wrap(std::int64_t{next} - *it - 1, size(axis));
      if (between > 0) {
        Box others = box;
        others[axis] =
            Interval::absolute(static_cast<std::int32_t>(wrap(*it + 1, size(axis))), between);
        boxes.push_back(others);
      }
      box[axis] = Interval::absolute(*it);
      std::vector<Box> here;
      llvm::copy_if(left, std::back_inserter(here),
                    [&](const Box& node) { return node[axis].start == *it; });
      self(self, box, m + 1, here);
    }
  };
  add(add, with({}, across_, 1, 0, 0), 0, out);
  return boxes;
}

void DeadPlane::add(std::uint32_t axis, int sign, const Box& children, Arcs& arcs) const {
  arcs.push_back({axis, sign, {children}, {movedBack(children, axis, sign, size(axis))}});
}

/// The rectangular tree of the plane from the dead node; its child gets the part from below.
void DeadPlane::addTree(const Tree& tree, Arcs& arcs) const {
  add(across_, 1, childOf(tree), arcs);
  llvm::SmallVector<std::uint32_t, kMaxAxes> order;
  for (std::uint32_t m = 0; m < axes_.size(); ++m)
    order.push_back(axisOf(tree, m));
  const Box plane = with({}, across_, 1, 0, 0);
  const Arcs all = rectangularArcs(topology_, order, tree.sign, dead_, plane);
  const std::uint32_t last = size(order.front()) - 1;
  if (last > 1) {
    const Box beyond = with(all.front().children.front(), order.front(), tree.sign, 2, last);
    add(order.front(), tree.sign, beyond, arcs);
  }
  arcs.insert(arcs.end(), all.begin() + 1, all.end());
}

Arcs DeadPlane::arcs(std::uint32_t part, std::uint32_t parts) const {
  Arcs arcs;
  if (axes_.empty()) return arcs;
  const std::size_t used = parts > 2 ? parts - 2 : 0;
  if (part > 1) {
    addTree(trees_[part - 2], arcs);
  } else if (part == 1) {
    for (const Box& box : withoutChildren(0))
      add(across_, -1, box, arcs);
  } else {
    for (const Box& box : withoutChildren(used))
      add(across_, 1, box, arcs);
    for (std::size_t i = 0; i < used; ++i) {
      const Tree& along = *spare(trees_[i], used);
      add(axisOf(along, 0), along.sign, childOf(trees_[i]), arcs);
    }
  }
  return arcs;
}

}  // namespace torc::compiler
