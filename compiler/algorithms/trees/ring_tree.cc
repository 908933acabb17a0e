#include "compiler/algorithms/trees/ring_tree.h"

#include <bit>
#include <cassert>
#include <cstdlib>
#include <string>
#include <utility>

#include <llvm/ADT/STLExtras.h>

#include "ir/make_error.h"
#include "schedules/box.h"

namespace torc::compiler {
namespace {

/// A binomial tree of a line from its first node on, which goes halfway with each message: a node
/// keeps at most half of its blocks. So the sequential messages of a node take no longer, hop by
/// hop, than the path of the farthest block.
RingTree halvingTree(std::uint32_t size) {
  RingTree tree;
  std::vector<RingArc> parts = {{0, size}};
  while (parts.size() < size) {
    std::vector<RingTreeEdge>& round = tree.emplace_back();
    std::vector<RingArc> halves;
    for (const RingArc& part : parts) {
      const std::uint32_t near = part.count / 2;
      if (near > 0) {
        round.push_back({part.first, part.first + near});
        halves.push_back({part.first, near});
      }
      halves.push_back({part.first + near, part.count - near});
    }
    parts = std::move(halves);
  }
  return tree;
}

}  // namespace

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

RingTree twoArmTree(std::uint32_t size) {
  RingTree tree;
  if (size == 1) return tree;
  const std::uint32_t above = size / 2;
  tree.push_back({{0, 1}});
  const auto add = [&](const RingTree& arm, const auto& at) {
    for (std::size_t round = 0; round < arm.size(); ++round) {
      if (tree.size() == round + 1) tree.emplace_back();
      for (const RingTreeEdge& edge : arm[round])
        tree[round + 1].push_back({at(edge.parent), at(edge.child)});
    }
  };
  add(halvingTree(above), [](std::uint32_t place) { return place + 1; });
  add(halvingTree(size - above),
      [&](std::uint32_t place) { return wrap(-std::int64_t{place}, size); });
  return tree;
}

RingTree splitTree(std::uint32_t size) {
  RingTree tree(1);
  for (const bool is_second : {false, true}) {
    const auto add = [&](std::uint32_t parent, std::uint32_t child) {
      tree[0].push_back(is_second ? RingTreeEdge{(size - parent) % size, size - child}
                                  : RingTreeEdge{parent, child});
    };
    const std::uint32_t nodes = (size - is_second) / 2, opposite = std::bit_floor(nodes);
    const bool is_opposite = opposite > 1 && 2 * opposite == size;
    const std::uint32_t end = is_opposite ? nodes : nodes + 1;
    for (std::uint32_t reach = std::bit_floor(end - 1); reach > 0; reach /= 2) {
      for (std::uint32_t child = reach; child < end; child += 2 * reach)
        add(child - reach, child);
      if (is_opposite && 2 * reach == opposite) add(reach, opposite);
    }
  }
  return tree;
}

RingTree flatTree(std::uint32_t size) {
  RingTree tree;
  for (std::uint32_t child = 1; child < size; ++child)
    tree.push_back({{0, child}});
  llvm::stable_sort(tree, [size](const auto& a, const auto& b) {
    return std::abs(distanceOf(a.front(), size)) > std::abs(distanceOf(b.front(), size));
  });
  return tree;
}

std::int32_t distanceOf(const RingTreeEdge& edge, std::uint32_t size) {
  const std::uint32_t up = wrap(std::int64_t{edge.child} - edge.parent, size);
  const bool is_up = up == 1 || 2 * std::uint64_t{up} < size;
  return static_cast<std::int32_t>(is_up ? up : std::int64_t{up} - size);
}

std::vector<RingArc> arcsOf(const RingTree& tree, std::uint32_t size) {
  std::vector<RingArc> arcs;
  for (std::uint32_t node = 0; node < size; ++node)
    arcs.push_back({node, 1});
  for (const auto& round : llvm::reverse(tree)) {
    for (const RingTreeEdge& edge : llvm::reverse(round)) {
      RingArc& arc = arcs[edge.parent];
      const RingArc& behind = arcs[edge.child];
      if (behind.first == (arc.first + arc.count) % size) {
        arc.count += behind.count;
      } else {
        assert((behind.first + behind.count) % size == arc.first);
        arc = {behind.first, arc.count + behind.count};
      }
    }
  }
  return arcs;
}

llvm::Error checkRings(const Topology& topology, const char* name) {
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (!topology.axes[i].wraps()) {
      return makeError(std::string(name) + ": " + topology.axes[i].name +
                       " is a line, on which the root can be anywhere");
    }
  }
  if (topology.isDamaged()) {
    return makeError(std::string(name) + ": messages cannot go round damage");
  }
  return llvm::Error::success();
}

}  // namespace torc::compiler
