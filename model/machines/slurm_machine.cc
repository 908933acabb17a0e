// The machine that Slurm's tori are.
#include "model/machines/slurm_machine.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>

#include "model/machines/foreign.h"

namespace torc::model {

std::string SlurmTorus::shape() const {
  std::string text;
  for (const std::uint32_t size : sizes)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

std::vector<std::uint32_t> SlurmTorus::coordinatesOf(std::size_t place) const {
  std::vector<std::uint32_t> at;
  for (const std::uint32_t size : sizes) {
    at.push_back(static_cast<std::uint32_t>(place % size));
    place /= size;
  }
  return at;
}

llvm::Expected<Machine> slurmMachine(llvm::ArrayRef<SlurmTorus> tori, llvm::StringRef origin) {
  const SlurmTorus& torus = tori.front();
  for (const SlurmTorus& other : tori) {
    if (other.sizes == torus.sizes) continue;
    return foreignFault(origin, other.line,
                        "torus " + inQuotes(other.name) + " is " + other.shape() + ", " +
                            inQuotes(torus.name) + " is " + torus.shape() + ": which one?");
  }
  llvm::Expected<Machine> generic = findMachine("generic");
  if (!generic) return generic.takeError();
  Machine machine = foreignMachine(
      origin, "Slurm torus " + inQuotes(torus.name) +
                  (tori.size() > 1 ? " and " + std::to_string(tori.size() - 1) + " alike" : ""));
  machine.alpha = generic->alpha;
  machine.dimensions.assign(torus.sizes.size(), generic->dimensions.back());
  for (std::size_t i = 0; i < torus.sizes.size(); ++i)
    machine.dimensions[i].size = torus.sizes[i];
  for (std::size_t place = 0; place < torus.hosts.size(); ++place) {
    if (!torus.hosts[place].empty()) continue;
    if (machine.dead_nodes.size() == kMaxDeadNodes) {
      return foreignFault(origin, torus.line,
                          "torus " + inQuotes(torus.name) + ", " + torus.shape() +
                              ", has more than " + llvm::Twine(kMaxDeadNodes) +
                              " places without a host");
    }
    llvm::copy(torus.coordinatesOf(place), machine.dead_nodes.emplace_back().begin());
  }
  machine.sources = {{"alpha", "estimate: as the machine generic"}};
  if (machine.damaged()) machine.sources.emplace_back("dead_nodes", "places without a host");
  machine.sources.emplace_back("dimensions.bandwidth",
                               "estimate: Slurm says nothing of links; as the machine generic");
  machine.sources.emplace_back("dimensions.size", "Slurm: torus " + inQuotes(torus.name));
  llvm::Expected<Topology> topology = topologyOf(machine);
  if (!topology) return topology.takeError();
  if (const Status status = topology->validate(); !status.ok()) {
    return foreignFault(origin, torus.line, status.message());
  }
  return machine;
}

}  // namespace torc::model
