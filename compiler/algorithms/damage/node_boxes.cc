// Covers nodes by rows, and joins rows axis by axis.
#include "compiler/algorithms/damage/node_boxes.h"

#include <algorithm>

#include <llvm/ADT/STLExtras.h>

namespace torc::compiler {
namespace {

/// `box` with coordinates `start` to start + length - 1 of an axis.
Interval intervalOf(std::uint32_t start, std::uint32_t length, std::uint32_t size) {
  return length == size ? Interval::all()
                        : Interval::absolute(static_cast<std::int32_t>(start), length);
}

}  // namespace

NodeBoxes::NodeBoxes(const Topology& topology) : topology_(topology) {
  Order axes;
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
    sizes_.push_back(topology_.axes[axis].size);
    stride_[axis] = places_;
    places_ *= topology_.axes[axis].size;
    if (topology_.axes[axis].size > 1) axes.push_back(axis);
  }
  for (std::uint64_t rank = 0; rank < topology_.ranks(); ++rank) {
    const Coordinates at = topology_.coordinatesOf(static_cast<std::int32_t>(rank));
    std::uint32_t place = 0;
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis)
      place += stride_[axis] * static_cast<std::uint32_t>(at[axis]);
    place_of_.push_back(place);
  }
  // The orders begin with each axis, in ascending and in descending order.
  for (std::size_t first = 0; first < axes.size(); ++first) {
    Order order(axes.begin() + first, axes.end());
    order.append(axes.begin(), axes.begin() + first);
    orders_.push_back(order);
    std::reverse(order.begin() + 1, order.end());
    if (axes.size() > 2) orders_.push_back(order);
  }
}

llvm::SmallVector<Box, 1> NodeBoxes::cover(llvm::ArrayRef<std::uint32_t> nodes) const {
  if (nodes.empty()) return {};
  if (orders_.empty()) return {Box{}};
  std::vector<bool> member(places_, false);
  for (const std::uint32_t node : nodes)
    member[place_of_[node]] = true;
  std::vector<Box> best;
  for (const Order& order : orders_) {
    std::vector<Box> boxes = cover(member, order);
    if (best.empty() || boxes.size() < best.size()) best = std::move(boxes);
  }
  return {best.begin(), best.end()};
}

std::vector<std::uint32_t> NodeBoxes::nodesOf(llvm::ArrayRef<Box> boxes) const {
  std::vector<bool> member(places_, false);
  for (const Box& box : boxes) {
    const Ranges ranges = resolve(box, topology_, {});
    const std::uint64_t count = volume(ranges, topology_);
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint64_t place = 0, rest = i;
      for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
        const std::uint64_t at = ranges[axis].start + rest % ranges[axis].length;
        place += stride_[axis] * (at % topology_.axes[axis].size);
        rest /= ranges[axis].length;
      }
      member[place] = true;
    }
  }
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t node = 0; node < place_of_.size(); ++node) {
    if (member[place_of_[node]]) nodes.push_back(node);
  }
  return nodes;
}

std::vector<Box> NodeBoxes::cover(const std::vector<bool>& member, const Order& order) const {
  std::vector<Box> boxes = rows(member, order.front());
  for (const std::uint32_t axis : llvm::ArrayRef(order).drop_front())
    joinAlong(axis, boxes);
  return boxes;
}

std::vector<Box> NodeBoxes::rows(const std::vector<bool>& member, std::uint32_t axis) const {
  const std::uint32_t size = topology_.axes[axis].size, stride = stride_[axis];
  const bool wraps = topology_.axes[axis].wraps();
  std::vector<Box> boxes;
  for (std::uint32_t place = 0; place < places_; ++place) {
    if (!member[place]) continue;
    const std::uint32_t at = place / stride % size, line = place - at * stride;
    const auto has = [&](std::uint32_t x) { return member[line + x * stride]; };
    std::uint32_t length = 1;
    if (at > 0 ? has(at - 1) : wraps && has(size - 1)) {  // in a row that begins elsewhere
      if (at > 0 || !wraps) continue;
      while (length < size && has(length))
        ++length;
      if (length < size) continue;  // a whole ring begins here
    } else {
      while (length < size && (wraps || at + length < size) && has((at + length) % size))
        ++length;
    }
    Box box;
    for (std::uint32_t i = 0; i < topology_.axis_count; ++i) {
      const std::uint32_t its_size = topology_.axes[i].size;
      box[i] = intervalOf(place / stride_[i] % its_size, 1, its_size);
    }
    box[axis] = intervalOf(at, length, size);
    boxes.push_back(box);
  }
  return boxes;
}

void NodeBoxes::joinAlong(std::uint32_t axis, std::vector<Box>& boxes) const {
  const std::uint32_t size = topology_.axes[axis].size;
  const auto keyOf = [&](const Box& box) {
    std::array<std::uint64_t, kMaxAxes> key{};
    for (std::uint32_t i = 0; i < topology_.axis_count; ++i) {
      if (i == axis) continue;
      key[i] = (std::uint64_t{static_cast<std::uint32_t>(box[i].start)} << 32) + box[i].length;
    }
    return key;
  };
  llvm::sort(boxes, [&](const Box& a, const Box& b) {
    const auto a_key = keyOf(a), b_key = keyOf(b);
    return a_key != b_key ? a_key < b_key : a[axis].start < b[axis].start;
  });
  std::vector<Box> joined;
  for (std::size_t begin = 0, end = 0; begin < boxes.size(); begin = end) {
    const std::size_t first = joined.size();
    for (end = begin; end < boxes.size() && keyOf(boxes[end]) == keyOf(boxes[begin]); ++end) {
      Interval* last = joined.size() > first ? &joined.back()[axis] : nullptr;
      if (last != nullptr &&
          last->start + static_cast<std::int32_t>(last->length) == boxes[end][axis].start) {
        ++last->length;
      } else {
        joined.push_back(boxes[end]);
      }
    }
    // Joins boxes across the end of the axis.
    Interval& lowest = joined[first][axis];
    Interval& highest = joined.back()[axis];
    if (lowest.length == size) {
      lowest = Interval::all();
    } else if (topology_.axes[axis].wraps() && joined.size() > first + 1 && lowest.start == 0 &&
               highest.start + highest.length == size) {
      highest.length += lowest.length;
      joined.erase(joined.begin() + static_cast<std::ptrdiff_t>(first));
    }
  }
  boxes = std::move(joined);
}

}  // namespace torc::compiler
