// Reads --torus, --order and --machine.
#include "compiler/target.h"

namespace torc {

llvm::Expected<Machine> readMachine(llvm::StringRef torus, llvm::StringRef machine) {
  if (torus.empty() && machine.empty()) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "which shape? --torus 4x4x4, or --machine NAME for its own");
  }
  llvm::Expected<Machine> whole = findMachine(machine.empty() ? kDefaultMachine : machine);
  if (!whole) return whole.takeError();
  return partitionOf(*whole, torus);
}

llvm::Expected<Target> readTarget(llvm::StringRef torus, llvm::StringRef order,
                                  llvm::StringRef machine) {
  llvm::Expected<Machine> part = readMachine(torus, machine);
  if (!part) return part.takeError();
  llvm::Expected<Topology> topology = topologyOf(*part, order);
  if (!topology) return topology.takeError();
  return Target{std::move(*part), *topology};
}

}  // namespace torc
