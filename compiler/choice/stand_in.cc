// Shrinks axes.
#include <algorithm>

#include <llvm/Support/Error.h>

#include "compiler/choice/candidate.h"
#include "schedules/box.h"

namespace torc::compiler {
namespace {

constexpr std::uint32_t kShortest = 3;  // nodes of a line that has ends and a middle

/// `share` of `size`, as odd or even as it; `size` where that is too short.
std::uint32_t shrunk(std::uint32_t size, double share) {
  const auto part = static_cast<std::uint32_t>(size * share);
  const std::uint32_t even = part + (part % 2 != size % 2 ? 1 : 0);
  return even < kShortest || even >= size ? size : even;
}

/// Where the coordinate of something dead lies when its axis has `size` nodes: as far from the
/// first dead thing, on the same side, as there is room; on a line, as far from the beginning.
std::int32_t moved(const Topology& topology, std::uint32_t axis, std::int32_t at,
                   std::uint32_t size) {
  const auto room = static_cast<std::int32_t>(size);
  if (!topology.axes[axis].isRing()) return std::min(at, room - 1);
  const std::int32_t center = topology.dead_node_count > 0
                                  ? topology.deadNodes().front()[axis]
                                  : topology.deadLinks().front().from[axis];
  const auto whole = static_cast<std::int32_t>(topology.axes[axis].size);
  std::int32_t ahead = static_cast<std::int32_t>(wrap(at - center, topology.axes[axis].size));
  if (ahead > whole / 2) ahead -= whole;
  ahead = std::clamp(ahead, -((room - 1) / 2), room / 2);
  return static_cast<std::int32_t>(wrap(std::min(center, room - 1) + ahead, size));
}

}  // namespace

std::optional<Target> standInFor(const Topology& topology, const model::Machine& machine,
                                 const std::array<bool, kMaxAxes>& shrink, std::uint64_t most,
                                 double share) {
  Target smaller{machine, {}};
  auto product = [&] {
    std::uint64_t nodes = 1;
    for (std::size_t i = 0; i < smaller.machine.dimensions.size(); ++i) {
      if (shrink[i]) nodes *= smaller.machine.dimensions[i].size;
    }
    return nodes;
  };
  while (product() > most) {
    bool changed = false;
    for (std::size_t i = 0; i < smaller.machine.dimensions.size(); ++i) {
      std::uint32_t& size = smaller.machine.dimensions[i].size;
      if (!shrink[i] || shrunk(size, share) == size) continue;
      size = shrunk(size, share);
      changed = true;
    }
    if (!changed) return std::nullopt;
  }
  const auto places = [&](Coordinates at) {
    for (std::size_t i = 0; i < smaller.machine.dimensions.size(); ++i)
      at[i] =
          moved(topology, static_cast<std::uint32_t>(i), at[i], smaller.machine.dimensions[i].size);
    return at;
  };
  // Two may come to lie on one place.
  const auto add = [](auto& list, const auto& damage) {
    if (std::find(list.begin(), list.end(), damage) == list.end()) list.push_back(damage);
  };
  smaller.machine.dead_links.clear();
  for (const DeadLink& link : topology.deadLinks())
    add(smaller.machine.dead_links, DeadLink{places(link.from), link.axis});
  smaller.machine.dead_nodes.clear();
  for (const Coordinates& node : topology.deadNodes())
    add(smaller.machine.dead_nodes, places(node));
  llvm::Expected<Topology> shrunk = model::topologyOf(smaller.machine);
  if (!shrunk) {
    llvm::consumeError(shrunk.takeError());
    return std::nullopt;
  }
  smaller.topology = *shrunk;
  return smaller;
}

}  // namespace torc::compiler
