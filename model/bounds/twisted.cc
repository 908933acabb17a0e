// Computes links and distances of twisted tori.
#include "model/bounds/twisted.h"

#include <algorithm>

#include "schedules/box.h"

namespace torc::model {
namespace {

/// Steps from a node to its neighbours, in coordinates in which all nodes are equivalent.
std::vector<Coordinates> stepsOf(llvm::ArrayRef<std::uint32_t> sizes) {
  const std::uint32_t shortest = *std::ranges::min_element(sizes);
  std::vector<Coordinates> steps;
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    for (const int sign : {1, -1}) {
      Coordinates& step = steps.emplace_back();
      for (std::size_t other = 0; other < sizes.size(); ++other) {
        const bool is_diagonal = sizes[axis] == shortest && sizes[other] > shortest;
        if (other == axis || is_diagonal) step[other] = sign;
      }
    }
  }
  return steps;
}

}  // namespace

std::vector<GraphLink> twistedLinks(const Topology& places, double bandwidth, double latency) {
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t axis = 0; axis < places.axis_count; ++axis)
    sizes.push_back(places.axes[axis].size);
  const std::vector<Coordinates> steps = stepsOf(sizes);
  std::vector<GraphLink> links;
  for (std::uint32_t node = 0; node < places.ranks(); ++node) {
    const Coordinates at = places.coordinatesOf(static_cast<std::int32_t>(node));
    for (const Coordinates& step : steps) {
      const auto to = static_cast<std::uint32_t>(places.neighbour(at, step));
      links.push_back({node, to, bandwidth, latency});
    }
  }
  sortLinks(links);
  return links;
}

TwistedDistances twistedDistances(llvm::ArrayRef<std::uint32_t> sizes) {
  const std::vector<Coordinates> steps = stepsOf(sizes);
  std::size_t nodes = 1;
  for (const std::uint32_t size : sizes)
    nodes *= size;
  std::vector<bool> reached(nodes);
  reached[0] = true;
  TwistedDistances distances;
  for (std::vector<Coordinates> front = {{}}, next;; front.swap(next), next.clear()) {
    for (const Coordinates& at : front) {
      for (const Coordinates& step : steps) {
        Coordinates to{};
        std::size_t index = 0;
        for (std::size_t axis = sizes.size(); axis-- > 0;) {
          to[axis] =
              static_cast<std::int32_t>(wrap(std::int64_t{at[axis]} + step[axis], sizes[axis]));
          index = index * sizes[axis] + static_cast<std::size_t>(to[axis]);
        }
        if (reached[index]) continue;
        reached[index] = true;
        next.push_back(to);
      }
    }
    if (next.empty()) return distances;
    ++distances.furthest;
    distances.sum += static_cast<double>(next.size()) * distances.furthest;
  }
}

}  // namespace torc::model
