// Cyclic ranges and boxes of them.
#include "ir/verifier/ranges.h"

namespace torc::ir {
namespace {

/// A range that is not empty, full ones normalised to start at 0.
Range normal(std::uint32_t start, std::uint32_t length, std::uint32_t size) {
  return length >= size ? Range{0, size} : Range{start, length};
}

}  // namespace

llvm::SmallVector<Range, 2> intersect(const Range& a, const Range& b, std::uint32_t size) {
  if (a.length == 0 || b.length == 0) return {};
  if (a.length == size) return {b};
  if (b.length == size) return {a};
  llvm::SmallVector<Range, 2> result;
  // Seen from a's start, b covers [offset, offset + length) and, wrapped, its tail from 0.
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

namespace {

template <typename Box>
std::uint32_t axisCount(const Box&, const Topology& topology) {
  return topology.axis_count;
}
std::uint32_t axisCount(const Ranges&, const BlockAxes& axes) {
  return axes.nodeAxes();
}
std::uint32_t axisCount(const BlockRanges&, const BlockAxes& axes) {
  return axes.count();
}
std::uint32_t axisSize(const Topology& topology, std::uint32_t axis) {
  return topology.axes[axis].size;
}
std::uint32_t axisSize(const BlockAxes& axes, std::uint32_t axis) {
  return axes.size(axis);
}

template <typename Box, typename Axes>
bool overlapBoxes(const Box& a, const Box& b, const Axes& axes) {
  for (std::uint32_t i = 0; i < axisCount(a, axes); ++i) {
    if (!overlaps(a[i], b[i], axisSize(axes, i))) return false;
  }
  return true;
}

template <typename Box, typename Axes>
void intersectBoxes(const Box& a, const Box& b, const Axes& axes, llvm::SmallVectorImpl<Box>& out) {
  llvm::SmallVector<Box, 4> boxes{a};
  for (std::uint32_t i = 0; i < axisCount(a, axes); ++i) {
    const auto common = intersect(a[i], b[i], axisSize(axes, i));
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

template <typename Box, typename Axes>
void subtractBoxes(const Box& a, const Box& b, const Axes& axes, llvm::SmallVectorImpl<Box>& out) {
  if (!overlapBoxes(a, b, axes)) {
    out.push_back(a);
    return;
  }
  // Axis by axis: what lies outside b on this axis is left over whole; what lies inside goes on.
  llvm::SmallVector<Box, 4> inside{a};
  for (std::uint32_t i = 0; i < axisCount(a, axes); ++i) {
    const auto outside = subtract(a[i], b[i], axisSize(axes, i));
    const auto common = intersect(a[i], b[i], axisSize(axes, i));
    llvm::SmallVector<Box, 4> next;
    for (Box& box : inside) {
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

}  // namespace

bool overlaps(const Ranges& a, const Ranges& b, const Topology& topology) {
  return overlapBoxes(a, b, topology);
}
bool overlaps(const BlockRanges& a, const BlockRanges& b, const BlockAxes& axes) {
  return overlapBoxes(a, b, axes);
}

void intersect(const Ranges& a, const Ranges& b, const Topology& topology, RangesList& out) {
  intersectBoxes(a, b, topology, out);
}
void intersect(const BlockRanges& a, const BlockRanges& b, const BlockAxes& axes,
               BlockRangesList& out) {
  intersectBoxes(a, b, axes, out);
}

void subtract(const Ranges& a, const Ranges& b, const Topology& topology, RangesList& out) {
  subtractBoxes(a, b, topology, out);
}
void subtract(const BlockRanges& a, const BlockRanges& b, const BlockAxes& axes,
              BlockRangesList& out) {
  subtractBoxes(a, b, axes, out);
}

void subtract(const Ranges& a, const Ranges& b, const BlockAxes& axes, RangesList& out) {
  subtractBoxes(a, b, axes, out);
}

Range shifted(const Range& range, std::int64_t distance, std::uint32_t size) {
  if (range.length == size) return range;
  return {wrap(static_cast<std::int64_t>(range.start) + distance, size), range.length};
}

}  // namespace torc::ir
