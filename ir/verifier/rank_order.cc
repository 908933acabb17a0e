#include "ir/verifier/rank_order.h"

#include <algorithm>

namespace torc::ir {
namespace {

enum class Relation { kBefore, kSame, kOther };

/// What one axis says of two ranges.
Relation relationOf(const Range& a, const Range& b, std::uint32_t size) {
  if (a.length == 1 && a == b) return Relation::kSame;
  const bool wraps = a.start + a.length > size || b.start + b.length > size;
  return !wraps && a.start + a.length <= b.start ? Relation::kBefore : Relation::kOther;
}

/// What it says of two spans for all of `nodes` nodes.
Relation relationOf(const Span& a, const Span& b, std::uint32_t nodes, std::uint32_t size) {
  if (followsBlock(a) || followsBlock(b)) return Relation::kOther;
  if (a == b && a.length == 1 && a.length_slope == 0) return Relation::kSame;
  const Relation first = relationOf(rangeAt(a, 0, size), rangeAt(b, 0, size), size);
  for (std::uint32_t k = 1; k < nodes; ++k) {
    if (relationOf(rangeAt(a, k, size), rangeAt(b, k, size), size) != first) {
      return Relation::kOther;
    }
  }
  return first;
}

/// Goes through the axes from the one that varies slowest with the rank on.
template <typename RelationOn>
bool decides(const Topology& topology, RelationOn relation_on) {
  for (std::uint32_t i = topology.axis_count; i-- > 0;) {
    const Relation relation = relation_on(topology.order[i]);
    if (relation != Relation::kSame) return relation == Relation::kBefore;
  }
  return false;
}

}  // namespace

bool comesBefore(const Ranges& a, const Ranges& b, const Topology& topology) {
  return decides(topology, [&](std::uint32_t axis) {
    return relationOf(a[axis], b[axis], topology.axes[axis].size);
  });
}

bool comesBefore(const Spans& a, const Spans& b, const Ranges& nodes, const Topology& topology) {
  return decides(topology, [&](std::uint32_t axis) {
    return relationOf(a[axis], b[axis], nodes[axis].length, topology.axes[axis].size);
  });
}

RangesList ranksUpTo(const Coordinates& at, bool included, const Topology& topology) {
  RangesList ranks;
  Ranges box{};  // of the axes so far: all; of those to come: the node's
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis)
    box[axis] = {static_cast<std::uint32_t>(at[axis]), 1};
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const std::uint32_t axis = topology.order[i];
    const std::uint32_t below = static_cast<std::uint32_t>(at[axis]) + (included && i == 0 ? 1 : 0);
    if (below > 0) {
      box[axis] = {0, below};
      ranks.push_back(box);
    }
    box[axis] = {0, topology.axes[axis].size};
  }
  return ranks;
}

bool ranksUpTo(const Ranges& nodes, bool included, const Topology& topology,
               llvm::SmallVectorImpl<Spans>& ranks) {
  Spans box{};
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    const std::uint32_t size = topology.axes[axis].size;
    if (nodes[axis].start + nodes[axis].length > size) return false;
    box[axis] = spanOf(Interval::relative(0), nodes[axis], size);
  }
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const std::uint32_t axis = topology.order[i];
    const std::uint32_t below = nodes[axis].start + (included && i == 0 ? 1 : 0);
    const bool several = nodes[axis].length > 1;
    if (below == 0 && several) return false;
    if (below > 0) {
      box[axis] = {0, below, 0, several ? 1 : 0};
      ranks.push_back(box);
    }
    box[axis] = {0, topology.axes[axis].size, 0, 0};
  }
  return true;
}

}  // namespace torc::ir
