// Boxes seen from a node: resolution to absolute ranges, membership, overlap,
// volume.
#include "schedules/box.h"

namespace torc {

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

bool admits(const Box& guard, const Topology& topology, const Coordinates& at) {
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (guard[i].kind == IntervalKind::kAll) continue;
    const std::uint32_t size = topology.axes[i].size;
    if (!contains(resolve(guard[i], at[i], size), static_cast<std::uint32_t>(at[i]), size)) {
      return false;
    }
  }
  return true;
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
