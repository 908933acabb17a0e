#include "compiler/algorithms/binomial/ring_tree.h"

#include <bit>

#include "schedules/box.h"

namespace torc {

RingTree binomialTree(std::uint32_t size) {
  RingTree tree;
  for (std::uint32_t step = std::bit_ceil(size) / 2; step > 0; step /= 2) {
    std::vector<RingTreeEdge>& round = tree.emplace_back();
    for (std::uint32_t parent = 0; parent + step < size; parent += 2 * step)
      round.push_back({parent, parent + step});
  }
  return tree;
}

RingTree bineTree(std::uint32_t size) {
  RingTree tree;
  const std::uint32_t even = size - size % 2;
  std::vector<std::uint32_t> reached{0};
  std::vector<bool> is_reached(size);
  is_reached[0] = true;
  for (int k = std::bit_width(even) - (std::has_single_bit(even) ? 1 : 0); k > 0; --k) {
    const std::int64_t power = std::int64_t{1} << k;
    const std::int64_t step = (1 - (k % 2 == 0 ? power : -power)) / 3;
    std::vector<RingTreeEdge> round;
    for (const std::uint32_t parent : reached) {
      const std::uint32_t child = wrap(parent + (parent % 2 == 0 ? step : -step), even);
      if (is_reached[child]) continue;
      is_reached[child] = true;
      round.push_back({parent, child});
    }
    for (const RingTreeEdge& edge : round)
      reached.push_back(edge.child);
    if (!round.empty()) tree.push_back(std::move(round));
  }
  if (size > even && size > 1) tree.push_back({{0, size - 1}});
  return tree;
}

}  // namespace torc
