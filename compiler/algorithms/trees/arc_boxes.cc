// The boxes of arcs that contain the root, and their rest without it.
#include "compiler/algorithms/trees/arc_boxes.h"

#include <algorithm>
#include <cstdlib>

#include <llvm/ADT/STLExtras.h>

#include "ir/verifier/box_algebra.h"

namespace torc::compiler {

bool RootGuards::suit(const Topology& topology) {
  const auto isShort = [](const Axis& axis) { return axis.size <= kMostOfRootSpan; };
  return topology.isDamaged() && !topology.hasCores() && llvm::all_of(topology.axes, isShort);
}

RootGuards::RootGuards(const Topology& topology, const Box& roots) : topology_(topology) {
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    const Range range = resolve(roots[axis], 0, size(axis));
    roots_[axis].from = static_cast<std::uint16_t>(range.start);
    roots_[axis].to =
        static_cast<std::uint16_t>(wrap(std::int64_t{range.start} + range.length - 1, size(axis)));
  }
}

Box RootGuards::root() const {
  Box origin;
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis)
    origin[axis] = topology_.axes[axis].wraps() ? Interval::absolute(0) : Interval::root();
  return fromRoot(origin);
}

Box RootGuards::absolute(const Box& box) const {
  return guard(box, false);
}

Box RootGuards::fromRoot(const Box& box) const {
  return guard(box, true);
}

Box RootGuards::guard(const Box& box, bool from_root) const {
  Box guard;
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
    if (size(axis) == 1) continue;
    RootSpan span = roots_[axis];
    const bool all = box[axis].kind == IntervalKind::kAll;
    const bool is_for_all = span.from == 0 && span.to == size(axis) - 1;
    if (is_for_all && (all || !from_root || !topology_.axes[axis].wraps())) {
      guard[axis] = box[axis];
      continue;
    }
    const Range range = resolve(box[axis], 0, size(axis));
    span.first_from_root = span.last_from_root = from_root && !all;
    span.first = static_cast<std::int16_t>(range.start);
    span.last =
        static_cast<std::int16_t>(wrap(std::int64_t{range.start} + range.length - 1, size(axis)));
    guard[axis] = Interval::forRoots(span);
  }
  return guard;
}

Box RootedNodes::rootWithChild(std::uint32_t axis, std::int32_t hops) const {
  Box box;
  for (std::uint32_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i] == TreeAxis::kSingle) continue;
    if (axes_[i] != TreeAxis::kLine) {
      box[i] = Interval::absolute(0);
    } else if (i != axis) {
      box[i] = Interval::root();
    } else {
      box[i] = Interval::rootWithin(std::max(0, -hops),
                                    sizes_[i] - static_cast<std::uint32_t>(std::abs(hops)));
    }
  }
  return box;
}

std::optional<Box> RootedNodes::rootAmong(const ArcBoxes& arc) const {
  const auto has_root = [&](const Box& box) { return mayMeet(box, root(), sizes_); };
  if (!is_root_apart_ || llvm::none_of(arc.parents, has_root)) return std::nullopt;
  return rootWithChild(arc.axis, arc.hops);
}

NodeSet RootedNodes::withoutRoot(const NodeSet& nodes) const {
  NodeSet others;
  for (const Box& box : nodes)
    addWithoutRoot(box, others);
  return others;
}

void RootedNodes::addWithoutRoot(const Box& box, NodeSet& nodes) const {
  const Box root = this->root();
  if (!is_root_apart_ || !mayMeet(box, root, sizes_)) return nodes.push_back(box);
  Box before = box;  // at the root on the axes handled so far
  for (std::uint32_t i = 0; i < axes_.size(); ++i) {
    const auto last = static_cast<std::int32_t>(sizes_[i]) - 1;
    const Interval whole = box[i];
    const auto add = [&](const Interval& interval) {
      before[i] = interval;
      nodes.push_back(before);
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
}

Topology RootedNodes::topology() const {
  Topology topology;
  topology.axis_count = static_cast<std::uint32_t>(sizes_.size());
  for (std::size_t i = 0; i < sizes_.size(); ++i)
    topology.axes[i].size = sizes_[i];
  return topology;
}

std::uint64_t RootedNodes::count(const NodeSet& nodes) const {
  const Topology topology = this->topology();
  std::uint64_t count = 0;
  for (const Box& box : nodes)
    count += volume(resolve(box, topology, {}), topology);
  return count;
}

std::optional<NodeSet> RootedNodes::subtract(const NodeSet& nodes, const NodeSet& others) const {
  if (llvm::is_contained(axes_, TreeAxis::kLine)) return std::nullopt;
  const Topology topology = this->topology();
  NodeSet left;
  for (const Box& box : nodes) {
    ir::RangesList of_box{resolve(box, topology, {})};
    for (const Box& other : others) {
      if (!absoluteMeet(box, other, sizes_)) continue;
      ir::RangesList rest;
      for (const Ranges& ranges : of_box)
        ir::subtract(ranges, resolve(other, topology, {}), topology, rest);
      of_box = std::move(rest);
    }
    for (const Ranges& ranges : of_box) {
      Box& made = left.emplace_back();
      for (std::size_t i = 0; i < sizes_.size(); ++i) {
        if (ranges[i].length == sizes_[i]) continue;
        made[i] = Interval::absolute(static_cast<std::int32_t>(ranges[i].start), ranges[i].length);
      }
    }
  }
  return left;
}

}  // namespace torc::compiler
