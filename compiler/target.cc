// Reads --torus, --order and --machine.
#include "compiler/target.h"

#include <optional>

#include "ir/make_error.h"

namespace torc::compiler {

llvm::Expected<Target> readTarget(llvm::StringRef torus, llvm::StringRef order,
                                  llvm::StringRef machine) {
  if (torus.empty() && machine.empty()) {
    return makeError("which shape? --torus 4x4x4, or --machine NAME for its own");
  }
  llvm::Expected<model::Machine> whole =
      model::findMachine(machine.empty() ? kDefaultMachine : machine);
  if (!whole) return whole.takeError();
  const bool is_file = torus.contains('/') || torus.contains('.');
  std::optional<model::Machine> place;
  if (is_file) {
    llvm::Expected<model::Machine> read = model::findMachine(torus);
    if (!read) return read.takeError();
    place = std::move(*read);
  }
  llvm::Expected<model::Machine> part =
      model::partitionOf(*whole, place ? model::shapeOf(*place) : torus.str());
  if (!part) return part.takeError();
  if (place && place->damaged()) {
    part->dead_links = place->dead_links;
    part->dead_nodes = place->dead_nodes;
  }
  llvm::Expected<Topology> topology = model::topologyOf(*part, order);
  if (!topology) return topology.takeError();
  return Target{std::move(*part), *topology};
}

llvm::Error addDamage(Target& target, llvm::ArrayRef<std::string> dead_links,
                      llvm::ArrayRef<std::string> dead_nodes) {
  for (const std::string& text : dead_links) {
    const StatusOr<DeadLink> link = parseDeadLink(target.topology, text);
    if (!link.ok()) return makeError(link.status());
    if (Status status = target.topology.addDeadLink(*link); !status.ok()) return makeError(status);
    target.machine.dead_links.push_back(*link);
  }
  for (const std::string& text : dead_nodes) {
    const StatusOr<Coordinates> node = parseDeadNode(target.topology, text);
    if (!node.ok()) return makeError(node.status());
    if (Status status = target.topology.addDeadNode(*node); !status.ok()) return makeError(status);
    target.machine.dead_nodes.push_back(*node);
  }
  const Status status = target.topology.validate();
  return status.ok() ? llvm::Error::success() : makeError(status);
}

}  // namespace torc::compiler
