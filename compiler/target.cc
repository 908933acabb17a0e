// Reads the options --torus, --order and --machine; writes and reads the end of producers.
#include "compiler/target.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/program_name.h"
#include "ir/make_error.h"

namespace torc::compiler {
namespace {

constexpr llvm::StringRef kFor = " for ", kOn = " on ";

bool isPreset(llvm::StringRef machine) {
  return llvm::is_contained(model::machinePresets(), machine);
}

}  // namespace

llvm::Expected<model::Machine> readPartition(llvm::StringRef torus, llvm::StringRef machine) {
  if (torus.empty() && machine.empty()) {
    return makeError("which shape? --torus 4x4x4, or --machine NAME for its own");
  }
  llvm::Expected<model::Machine> whole =
      model::findMachine(machine.empty() ? kDefaultMachine : machine);
  if (!whole) return whole.takeError();
  const bool is_file = torus.contains('/') || torus.contains('.');
  if (!is_file) return model::partitionOf(*whole, torus);
  llvm::Expected<model::Machine> place = model::findMachine(torus);
  if (!place) return place.takeError();
  llvm::Expected<model::Machine> part = model::partitionOf(*whole, model::shapeOf(*place));
  if (part && place->damaged()) {
    part->dead_links = place->dead_links;
    part->dead_nodes = place->dead_nodes;
  }
  return part;
}

llvm::Expected<Target> readTarget(llvm::StringRef torus, llvm::StringRef order,
                                  llvm::StringRef machine) {
  llvm::Expected<model::Machine> part = readPartition(torus, machine);
  if (!part) return part.takeError();
  llvm::Expected<Topology> topology = model::topologyOf(*part, order);
  if (!topology) return topology.takeError();
  return Target{std::move(*part), *topology};
}

llvm::Expected<model::Machine> machineOf(const Topology& topology, llvm::StringRef machine) {
  llvm::Expected<model::Machine> whole =
      model::findMachine(machine.empty() ? kDefaultMachine : machine);
  if (!whole) return whole.takeError();
  llvm::Expected<model::Machine> partition = model::partitionOf(*whole, topology.shape());
  if (!partition) return partition;
  for (const DeadLink& dead : topology.deadLinks()) {
    if (!llvm::is_contained(partition->dead_links, dead)) partition->dead_links.push_back(dead);
  }
  for (const Coordinates& dead : topology.deadNodes()) {
    if (!llvm::is_contained(partition->dead_nodes, dead)) partition->dead_nodes.push_back(dead);
  }
  if (!machine.empty()) return partition;
  for (std::size_t i = 0; i < partition->dimensions.size(); ++i) {
    partition->dimensions[i].bandwidth *= topology.axes[i].bandwidth;
    partition->dimensions[i].latency = topology.axes[i].latency;
  }
  return partition;
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

std::string chosenForText(std::uint64_t bytes, llvm::StringRef machine) {
  if (machine.empty()) machine = kDefaultMachine;
  const llvm::StringRef kind = isPreset(machine) ? "" : "file ";
  const llvm::StringRef name = llvm::sys::path::filename(machine);
  return llvm::all_of(name, llvm::isPrint) ? (kFor + sizeText(bytes) + kOn + kind + name).str()
                                           : "";
}

llvm::StringRef recipeOf(llvm::StringRef producer) {
  return producer.split(kFor).first;
}

void takeChosenFor(std::string_view producer, const options::Text& bytes, SizeRange& range,
                   options::Text& machine) {
  const auto [size, on] = llvm::StringRef(producer).split(kFor).second.split(kOn);
  llvm::Expected<SizeRange> chosen = parseSizeRange(size, "");
  if (!chosen) return consumeError(chosen.takeError());
  if (!bytes.isGiven()) range = *chosen;
  if (!machine.empty() || on == kDefaultMachine) return;
  if (isPreset(on)) {
    machine = on.str();
  } else if (!on.empty()) {
    llvm::errs() << g_program << ": note: chosen for another machine, " << on
                 << ", which --machine has to name\n";
  }
}

}  // namespace torc::compiler
