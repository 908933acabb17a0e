// Twisted tori: neighbours and distances.
#include "model/bounds/twisted.h"

#include <algorithm>

namespace torc::model {

Coordinates twistedNeighbour(const TwistedSizes& sizes, Coordinates at, std::uint32_t axis,
                             int sign) {
  const auto size = static_cast<std::int32_t>(sizes[axis]);
  const std::int32_t to = at[axis] + sign;
  at[axis] = (to + size) % size;
  if (to == at[axis]) return at;
  for (std::size_t other = 0; other < sizes.size(); ++other) {
    // k further and k back are one place on an axis of 2k.
    if (sizes[other] == 2 * sizes[axis]) {
      at[other] = (at[other] + size) % static_cast<std::int32_t>(sizes[other]);
    }
  }
  return at;
}

std::vector<GraphLink> twistedLinks(const Topology& places, double bandwidth, double latency) {
  const std::uint32_t axes = places.axis_count;
  std::uint32_t shortest = places.axes[0].size;
  for (std::uint32_t axis = 1; axis < axes; ++axis)
    shortest = std::min(shortest, places.axes[axis].size);
  std::vector<GraphLink> links;
  for (std::uint32_t node = 0; node < places.ranks(); ++node) {
    const Coordinates at = places.coordinatesOf(static_cast<std::int32_t>(node));
    for (std::uint32_t axis = 0; axis < axes; ++axis) {
      const bool is_short = places.axes[axis].size == shortest;
      for (const int sign : {1, -1}) {
        Coordinates shift{};
        shift[axis] = sign;
        for (std::uint32_t other = 0; is_short && other < axes; ++other)
          shift[other] = other == axis || places.axes[other].size > shortest ? sign : 0;
        const auto to = static_cast<std::uint32_t>(places.neighbour(at, shift));
        links.push_back({node, to, bandwidth, latency});
      }
    }
  }
  sortLinks(links);
  return links;
}

TwistedDistances twistedDistances(const TwistedSizes& sizes) {
  TwistedDistances distances;
  const auto indexOf = [&](const Coordinates& at) {
    return static_cast<std::size_t>(at[0]) +
           sizes[0] * (static_cast<std::size_t>(at[1]) + std::size_t{sizes[1]} * at[2]);
  };
  std::vector<bool> reached(std::size_t{sizes[0]} * sizes[1] * sizes[2]);
  std::vector<Coordinates> front = {{}};
  reached[0] = true;
  while (true) {
    std::vector<Coordinates> next;
    for (const Coordinates& at : front) {
      for (std::uint32_t axis = 0; axis < sizes.size(); ++axis) {
        for (const int sign : {1, -1}) {
          const Coordinates to = twistedNeighbour(sizes, at, axis, sign);
          if (reached[indexOf(to)]) continue;
          reached[indexOf(to)] = true;
          next.push_back(to);
        }
      }
    }
    if (next.empty()) return distances;
    ++distances.furthest;
    distances.sum += static_cast<double>(next.size()) * distances.furthest;
    front = std::move(next);
  }
}

}  // namespace torc::model
