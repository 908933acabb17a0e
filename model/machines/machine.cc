// Machines: reads presets and files, makes partitions and topologies.
#include "model/machines/machine.h"

#include <algorithm>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>

#include "ir/make_error.h"
#include "model/machines/foreign.h"
#include "model/machines/presets.h"
#include "schedules/format/file.h"

namespace torc::model {
namespace {

/// Whether both ways round a dimension of two nodes share the only cable: equivalent to a mesh.
bool isShared(const MachineDimension& dimension) {
  return dimension.torus && dimension.size == 2 && dimension.cables() == 1;
}

/// Whether `machine` has the dimensions of `topology`, in size and kind.
bool sameShape(const Machine& machine, const Topology& topology) {
  const auto dimensions = static_cast<std::size_t>(topology.dimensions());
  if (machine.dimensions.size() != dimensions) return false;
  for (std::size_t i = 0; i < dimensions; ++i) {
    const Axis& axis = topology.axes[i];
    const MachineDimension& dimension = machine.dimensions[i];
    if (dimension.size != axis.size) return false;
    if (dimension.torus != (axis.kind == AxisKind::kTorus) && !isShared(dimension)) return false;
  }
  return true;
}

constexpr std::uint64_t kMostTwistedNodes = 1u << 22;  // of which distances are searched

/// Checks that a machine's dimensions suit a twisted torus: k, k, 2k or k, 2k, 2k nodes in any
/// order, all links equal.
llvm::Error checkTwist(const Machine& machine, llvm::StringRef shape) {
  const auto fault = [&](const llvm::Twine& what) {
    return makeError("torus '" + shape + "': " + what);
  };
  std::vector<std::uint32_t> sizes;
  for (const MachineDimension& of : machine.dimensions)
    sizes.push_back(of.size);
  llvm::sort(sizes);
  const bool fits = sizes.size() == 3 && sizes[0] > 2 && sizes[2] == std::uint64_t{2} * sizes[0] &&
                    (sizes[1] == sizes[0] || sizes[1] == sizes[2]);
  const MachineDimension& first = machine.dimensions.front();
  const bool alike = llvm::all_of(machine.dimensions, [&](const MachineDimension& of) {
    return of.torus && of.bandwidth == first.bandwidth && of.cables() == first.cables() &&
           of.latency == first.latency;
  });
  if (!fits) return fault("twisted tori have k, k, 2k or k, 2k, 2k nodes, k from 3 on");
  if (!alike) return fault("the links of a twisted torus are alike, and all wrap");
  if (machine.nodes() > kMostTwistedNodes) {
    return fault("a twisted torus of more than " + llvm::Twine(kMostTwistedNodes) + " nodes");
  }
  return llvm::Error::success();
}

}  // namespace

char MachineFault::ID = 0;

std::uint64_t Machine::nodes() const {
  std::uint64_t product = 1;
  for (const MachineDimension& dimension : dimensions)
    product *= dimension.size;
  return product;
}

double Machine::linkBandwidth(std::uint32_t dimension) const {
  const MachineDimension& of = dimensions[dimension];
  double cable = of.bandwidth * packet.efficiency();
  if (gap > 0) {
    double fastest = 0;
    for (const MachineDimension& other : dimensions)
      fastest = std::max(fastest, other.bandwidth);
    cable = of.bandwidth / fastest / gap;
  }
  const double cables = of.cables();
  return of.torus && of.size == 2 && cables > 1 ? cable * cables / 2 : cable * cables;
}

llvm::ArrayRef<llvm::StringRef> machinePresets() {
  static const auto names =
      llvm::to_vector(llvm::map_range(presets(), [](const Preset& preset) { return preset.name; }));
  return names;
}

llvm::Expected<Machine> findMachine(llvm::StringRef name_or_path) {
  for (const Preset& preset : presets()) {
    if (preset.name == name_or_path) return parseMachine(preset.json, name_or_path);
  }
  const bool looks_like_path = name_or_path.contains('/') || name_or_path.contains('.');
  const StatusOr<std::vector<std::byte>> bytes = readFile(name_or_path.str());
  if (bytes.ok()) {
    const llvm::StringRef text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    return isMachineJson(text) ? parseMachine(text, name_or_path)
                               : parseForeignMachine(text, name_or_path);
  }
  if (looks_like_path) return llvm::make_error<MachineFault>(bytes.status().message());
  return unknownName("machine", name_or_path, machinePresets(),
                     "torc machines has them, or name a file");
}

llvm::Expected<Machine> partitionOf(const Machine& machine, llvm::StringRef shape) {
  if (shape.empty()) return machine;
  if (const std::size_t mark = std::min(shape.find('+'), shape.size());
      mark > 1 && shape[mark - 1] == 't') {
    llvm::Expected<Machine> part =
        partitionOf(machine, (shape.take_front(mark - 1) + shape.drop_front(mark)).str());
    if (!part) return part;
    if (llvm::Error error = checkTwist(*part, shape)) return error;
    part->dead_links.clear();
    part->dead_nodes.clear();
    part->twisted = true;
    return part;
  }
  const StatusOr<Topology> topology = parseTopology({shape.data(), shape.size()});
  if (!topology.ok()) return makeError(topology.status());
  Machine part = machine;
  if (topology->hasCores()) {
    part.ranks_per_node = topology->axes[topology->axis_count - 1].size;
    part.cores = part.ranks_per_node;
  }
  if (sameShape(machine, *topology)) return part;
  part.dead_links.clear();
  part.dead_nodes.clear();
  part.dimensions.resize(static_cast<std::size_t>(topology->dimensions()),
                         machine.dimensions.back());
  for (std::size_t i = 0; i < part.dimensions.size(); ++i) {
    part.dimensions[i].size = topology->axes[i].size;
    part.dimensions[i].torus = topology->axes[i].kind == AxisKind::kTorus;
  }
  return part;
}

std::string shapeOf(const Machine& machine) {
  std::string shape;
  for (const MachineDimension& dimension : machine.dimensions) {
    shape += (shape.empty() ? "" : "x") + std::to_string(dimension.size) +
             (dimension.torus && !isShared(dimension) ? "" : "m");
  }
  if (machine.twisted) shape += "t";
  if (machine.ranks_per_node > 0) shape += "+" + std::to_string(machine.ranks_per_node);
  return shape;
}

llvm::Expected<Topology> topologyOf(const Machine& machine, llvm::StringRef order) {
  const auto dimensions = static_cast<std::uint32_t>(machine.dimensions.size());
  const std::string shape = shapeOf(machine);
  if (machine.twisted) {
    return makeError("torus '" + shape + "': of a twisted torus bounds are known, no schedules");
  }
  StatusOr<Topology> topology = parseTopology(shape, {order.data(), order.size()});
  if (!topology.ok()) return makeError(topology.status());
  double fastest = 0;
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    if (machine.dimensions[i].size > 1) fastest = std::max(fastest, machine.linkBandwidth(i));
  }
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    Axis& axis = topology->axes[i];
    axis.bandwidth = axis.size > 1 ? machine.linkBandwidth(i) / fastest : 1.0;
    axis.latency = machine.dimensions[i].latency;
  }
  Status status;
  for (const DeadLink& link : machine.dead_links) {
    if (status.ok()) status = topology->addDeadLink(link);
  }
  for (const Coordinates& node : machine.dead_nodes) {
    if (status.ok()) status = topology->addDeadNode(node);
  }
  if (!status.ok()) return makeError(machine.name + ": " + status.message());
  return *topology;
}

}  // namespace torc::model
