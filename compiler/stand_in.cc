// Halves axes.
#include "compiler/stand_in.h"

#include <algorithm>

#include <llvm/Support/Error.h>

namespace torc {
namespace {

constexpr std::uint32_t kShortest = 3;  // nodes of a line that has ends and a middle

/// Half of `size`, as odd or even as it; `size` where that is too short.
std::uint32_t halved(std::uint32_t size) {
  const std::uint32_t half = size / 2 + (size / 2 % 2 != size % 2 ? 1 : 0);
  return half < kShortest || half >= size ? size : half;
}

}  // namespace

std::optional<StandIn> standInFor(const Topology& topology, const Machine& machine,
                                  const std::array<bool, kMaxAxes>& shrink, std::uint64_t most) {
  if (!topology.deadNodes().empty()) return std::nullopt;
  StandIn smaller{machine, {}};
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
      if (!shrink[i] || halved(size) == size) continue;
      size = halved(size);
      changed = true;
    }
    if (!changed) return std::nullopt;
  }
  smaller.machine.dead_links.clear();
  for (DeadLink link : topology.deadLinks()) {
    for (std::size_t i = 0; i < smaller.machine.dimensions.size(); ++i) {
      const auto last = static_cast<std::int32_t>(smaller.machine.dimensions[i].size) - 1;
      link.from[i] = std::min(link.from[i], last);
    }
    // Two may come to lie on one place.
    if (std::find(smaller.machine.dead_links.begin(), smaller.machine.dead_links.end(), link) ==
        smaller.machine.dead_links.end()) {
      smaller.machine.dead_links.push_back(link);
    }
  }
  llvm::Expected<Topology> shrunk = topologyOf(smaller.machine);
  if (!shrunk) {
    llvm::consumeError(shrunk.takeError());
    return std::nullopt;
  }
  smaller.topology = *shrunk;
  return smaller;
}

}  // namespace torc
