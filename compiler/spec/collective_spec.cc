// Parses names of collectives, and derives the network of a shape.
#include "compiler/spec/collective_spec.h"

#include <algorithm>
#include <vector>

#include "ir/make_error.h"

namespace torc::compiler {

std::uint32_t coresOf(const Topology& topology) {
  return topology.hasCores() ? topology.axes[topology.axis_count - 1].size : 1;
}

CollectiveSpec networkOf(const CollectiveSpec& spec) {
  CollectiveSpec network = spec;
  Topology& topology = network.topology;
  if (!topology.hasCores()) return network;
  const std::uint32_t cores = --topology.axis_count;
  topology.axes[cores] = {};
  // Dead nodes are stored with coordinate 0 on the axis of cores, for all cores of a node.
  const auto end = std::remove(topology.order.begin(), topology.order.begin() + cores + 1, cores);
  *end = 0;
  return network;
}

llvm::Expected<Collective> parseCollective(llvm::StringRef name) {
  if (const std::optional<Collective> collective = collectiveNamed(name)) return *collective;
  std::vector<llvm::StringRef> names;
  for (const CollectiveRow& row : collectiveRows())
    names.push_back(row.name);
  return unknownName("collective", name, names, "torc compile --list-algorithms has them");
}

}  // namespace torc::compiler
