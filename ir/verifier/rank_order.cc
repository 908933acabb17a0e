#include "ir/verifier/rank_order.h"

#include <algorithm>
#include <utility>

namespace torc::ir {
namespace {

// Ordered by how much the faster axes still decide.
enum class Relation {
  kBefore,  // all of `a` are below all of `b`
  kMeets,   // the last of `a` is the first of `b`, or is so for some nodes
  kOther,
};

/// The relation of two ranges on one axis. A range beyond the end of the axis contains its last
/// coordinate and the first.
Relation relationOf(const Range& a, const Range& b, std::uint32_t size) {
  const std::uint32_t last = std::min(a.start + a.length, size) - 1;
  const std::uint32_t first = b.start + b.length > size ? 0 : b.start;
  if (last == first) return Relation::kMeets;
  return last < first ? Relation::kBefore : Relation::kOther;
}

/// The relation of two spans, for all of `nodes` nodes.
Relation relationOf(const Span& a, const Span& b, std::uint32_t nodes, std::uint32_t size) {
  if (followsBlock(a) || followsBlock(b)) return Relation::kOther;
  if (a == b && a.length == 1 && a.length_slope == 0) return Relation::kMeets;
  Relation relation = Relation::kBefore;
  for (std::uint32_t k = 0; k < nodes; ++k)
    relation = std::max(relation, relationOf(rangeAt(a, k, size), rangeAt(b, k, size), size));
  return relation;
}

}  // namespace

bool comesBefore(const Spans& a, const Spans& b, const Ranges& nodes, const Topology& topology) {
  for (std::uint32_t i = topology.axis_count; i-- > 0;) {
    const std::uint32_t axis = topology.order[i];
    const Relation relation =
        relationOf(a[axis], b[axis], nodes[axis].length, topology.axes[axis].size);
    if (relation != Relation::kMeets) return relation == Relation::kBefore;
  }
  return false;
}

llvm::SmallVector<Place, 4> ranksUpTo(const Ranges& nodes, bool included,
                                      const Topology& topology) {
  llvm::SmallVector<Place, 4> places;
  Place place{nodes, {}};  // of earlier axes: all; of later ones: the node's coordinate
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis)
    place.blocks[axis] = spanOf(Interval::relative(0), nodes[axis], topology.axes[axis].size);
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const std::uint32_t axis = topology.order[i];
    const std::uint32_t size = topology.axes[axis].size;
    const std::uint32_t least = included && i == 0 ? 0 : 1;  // smallest with a lower rank
    const std::uint32_t end = nodes[axis].start + nodes[axis].length;
    // Nodes that wrap around the end of the axis: those before it, then those behind.
    for (const auto& [from, to] : {std::pair(nodes[axis].start, std::min(end, size)),
                                   std::pair(0u, end > size ? end - size : 0u)}) {
      const std::uint32_t first = std::max(from, least);
      if (first >= to) continue;
      places.push_back(place);
      places.back().nodes[axis] = {first, to - first};
      places.back().blocks[axis] = {0, first + 1 - least, 0, to - first > 1 ? 1 : 0};
    }
    place.blocks[axis] = {0, size, 0, 0};
  }
  return places;
}

}  // namespace torc::ir
