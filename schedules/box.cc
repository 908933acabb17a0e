// Boxes seen from a node: resolution to absolute ranges, membership, overlap,
// volume.
#include "schedules/box.h"

namespace torc {

RootEnds Interval::rootEnds() const {
  const std::int64_t last = std::int64_t{start} + length - 1;
  const RootSpan span = rootSpan();
  switch (kind) {
    case IntervalKind::kFromRoot:
      return {true, false, start, length};
    case IntervalKind::kToRoot:
      return {false, true, length, start};
    case IntervalKind::kRootWithin:
      return {false, false, start, last};
    case IntervalKind::kForRoots:
      return {span.first_from_root, span.last_from_root, span.first, span.last};
    default:
      return {true, true, start, last};
  }
}

Range resolve(const Interval& interval, std::int32_t coordinate, std::uint32_t size) {
  if (interval.kind == IntervalKind::kAll || interval.length >= size) return {0, size};
  const bool counts = interval.kind == IntervalKind::kRelative || isPeerRelative(interval.kind);
  const std::int64_t base = counts ? coordinate : 0;
  return {wrap(base + interval.start, size), interval.length};
}

Ranges resolve(const Box& box, const Topology& topology, const Coordinates& at) {
  Ranges ranges{};
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    ranges[i] = resolve(box[i], at[i], topology.axes[i].size);
  }
  return ranges;
}

Ranges allNodes(const Topology& topology) {
  return resolve(Box{}, topology, {});
}

Ranges nodeAt(const Topology& topology, const Coordinates& at) {
  Ranges node{};
  for (std::uint32_t i = 0; i < topology.axis_count; ++i)
    node[i] = {static_cast<std::uint32_t>(at[i]), 1};
  return node;
}

Ranges nodeWithCores(const Topology& topology, const Coordinates& node) {
  Ranges site = nodeAt(topology, node);
  if (topology.hasCores())
    site[topology.axis_count - 1] = allNodes(topology)[topology.axis_count - 1];
  return site;
}

Coordinates firstNode(const Ranges& nodes) {
  Coordinates at{};
  for (std::size_t i = 0; i < at.size(); ++i)
    at[i] = static_cast<std::int32_t>(nodes[i].start);
  return at;
}

Ranges moved(const Ranges& nodes, const Coordinates& distance, const Topology& topology) {
  Ranges result{};
  for (std::uint32_t i = 0; i < topology.axis_count; ++i)
    result[i] = shifted(nodes[i], distance[i], topology.axes[i].size);
  return result;
}

bool contains(const Ranges& nodes, const Topology& topology, const Coordinates& at) {
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (!contains(nodes[i], static_cast<std::uint32_t>(at[i]), topology.axes[i].size)) return false;
  }
  return true;
}

bool admits(const Box& guard, const Topology& topology, const Coordinates& at) {
  return contains(resolve(guard, topology, at), topology, at);
}

std::uint64_t volume(const Ranges& ranges, const Topology& topology) {
  std::uint64_t product = 1;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i)
    product *= ranges[i].length;
  return product;
}

std::uint64_t liveVolume(const Ranges& ranges, const Topology& topology) {
  std::uint64_t live = volume(ranges, topology);
  const auto dimensions = static_cast<std::uint32_t>(topology.dimensions());
  for (const Coordinates& node : topology.deadNodes()) {
    bool inside = true;
    for (std::uint32_t i = 0; i < dimensions && inside; ++i) {
      inside = contains(ranges[i], static_cast<std::uint32_t>(node[i]), topology.axes[i].size);
    }
    if (inside) live -= topology.hasCores() ? ranges[dimensions].length : 1;
  }
  return live;
}

}  // namespace torc
