// Reads --torus, --order and --machine.
#include "compiler/target.h"

namespace torc {

llvm::Expected<Target> readTarget(llvm::StringRef torus, llvm::StringRef order,
                                  llvm::StringRef machine) {
  if (torus.empty() && machine.empty()) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "which shape? --torus 4x4x4, or --machine NAME for its own");
  }
  llvm::Expected<Machine> whole = findMachine(machine.empty() ? kDefaultMachine : machine);
  if (!whole) return whole.takeError();
  llvm::Expected<Machine> part = partitionOf(*whole, torus);
  if (!part) return part.takeError();
  llvm::Expected<Topology> topology = topologyOf(*part, order);
  if (!topology) return topology.takeError();
  return Target{std::move(*part), *topology};
}

}  // namespace torc
