// Cyclic ranges and boxes of them.
#include "ir/verifier/box_algebra.h"

namespace torc::ir {
namespace {

/// A non-empty range; full ones are normalised to start at 0.
Range normal(std::uint32_t start, std::uint32_t length, std::uint32_t size) {
  return length >= size ? Range{0, size} : Range{start, length};
}

/// Whether one root exists for which neither guard is empty.
bool areForOneRoot(const Interval& a, const Interval& b, std::uint32_t size) {
  if (a.kind != IntervalKind::kForRoots || b.kind != IntervalKind::kForRoots) return true;
  const auto roots = [&](const RootSpan& span) {
    return Range{span.from, wrap(std::int64_t{span.to} - span.from, size) + 1};
  };
  return overlaps(roots(a.rootSpan()), roots(b.rootSpan()), size);
}

}  // namespace

llvm::SmallVector<Range, 2> intersect(const Range& a, const Range& b, std::uint32_t size) {
  if (a.length == 0 || b.length == 0) return {};
  if (a.length == size) return {b};
  if (b.length == size) return {a};
  llvm::SmallVector<Range, 2> result;
  // Relative to a's start, b covers [offset, offset + length) and, wrapped, its tail from 0.
  const std::uint32_t offset = wrap(static_cast<std::int64_t>(b.start) - a.start, size);
  const std::uint64_t end = static_cast<std::uint64_t>(offset) + b.length;
  if (offset < a.length) {
    const auto stop = static_cast<std::uint32_t>(std::min<std::uint64_t>(end, a.length));
    result.push_back({b.start, stop - offset});
  }
  if (end > size) {
    const auto tail = static_cast<std::uint32_t>(std::min<std::uint64_t>(end - size, a.length));
    if (tail > 0) result.push_back({a.start, tail});
  }
  return result;
}

llvm::SmallVector<Range, 2> subtract(const Range& a, const Range& b, std::uint32_t size) {
  if (b.length == size) return {};
  const Range complement{wrap(static_cast<std::int64_t>(b.start) + b.length, size),
                         size - b.length};
  return intersect(a, complement, size);
}

bool join(Range& a, const Range& b, std::uint32_t size) {
  if (static_cast<std::uint64_t>(a.length) + b.length > size || overlaps(a, b, size)) return false;
  if (wrap(static_cast<std::int64_t>(a.start) + a.length, size) == b.start) {
    a = normal(a.start, a.length + b.length, size);
    return true;
  }
  if (wrap(static_cast<std::int64_t>(b.start) + b.length, size) == a.start) {
    a = normal(b.start, a.length + b.length, size);
    return true;
  }
  return false;
}

bool overlaps(const Ranges& a, const Ranges& b, const Topology& topology) {
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (!overlaps(a[i], b[i], topology.axes[i].size)) return false;
  }
  return true;
}

void intersect(const Ranges& a, const Ranges& b, const Topology& topology, RangesList& out) {
  RangesList boxes{a};
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const auto common = intersect(a[i], b[i], topology.axes[i].size);
    if (common.empty()) return;
    const std::size_t count = boxes.size();
    for (std::size_t k = 0; k < count; ++k) {
      if (common.size() == 2) {
        boxes.push_back(boxes[k]);
        boxes.back()[i] = common[1];
      }
      boxes[k][i] = common[0];
    }
  }
  out.append(boxes.begin(), boxes.end());
}

void subtract(const Ranges& a, const Ranges& b, const Topology& topology, RangesList& out) {
  if (!overlaps(a, b, topology)) {
    out.push_back(a);
    return;
  }
  // Axis by axis: the parts of `a` outside b on this axis are remainders; the part inside
  // continues.
  RangesList inside{a};
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const auto outside = subtract(a[i], b[i], topology.axes[i].size);
    const auto common = intersect(a[i], b[i], topology.axes[i].size);
    RangesList next;
    for (Ranges& box : inside) {
      for (const Range& range : outside) {
        out.push_back(box);
        out.back()[i] = range;
      }
      for (const Range& range : common) {
        next.push_back(box);
        next.back()[i] = range;
      }
    }
    inside = std::move(next);
  }
}

RangesList intersect(const RangesList& boxes, const Ranges& b, const Topology& topology) {
  RangesList common;
  for (const Ranges& box : boxes)
    intersect(box, b, topology, common);
  return common;
}

RangesList subtract(const RangesList& boxes, const Ranges& b, const Topology& topology) {
  RangesList rest;
  for (const Ranges& box : boxes)
    subtract(box, b, topology, rest);
  return rest;
}

Interval guardOn(const Box& guard, std::uint32_t axis, std::uint32_t size) {
  if (guard[axis].kind == IntervalKind::kForRoots) {
    const RootSpan span = guard[axis].rootSpan();
    if (!span.first_from_root && !span.last_from_root)
      return Interval::absolute(span.first, wrap(std::int64_t{span.last} - span.first, size) + 1);
  }
  return isRootRelative(guard[axis].kind) ? Interval::all() : guard[axis];
}

bool guardsMeet(const ScheduleView& schedule, std::uint32_t a, std::uint32_t b) {
  if (a == b || a == kNone || b == kNone) return true;
  const Topology& topology = schedule.topology;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const std::uint32_t size = topology.axes[i].size;
    const Box &one = schedule.boxes[a], &other = schedule.boxes[b];
    if (!areForOneRoot(one[i], other[i], size) ||
        !overlaps(resolve(guardOn(one, i, size), 0, size),
                  resolve(guardOn(other, i, size), 0, size), size)) {
      return false;
    }
  }
  return true;
}

}  // namespace torc::ir
