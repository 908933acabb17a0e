// Lists the sub-tori of partitions, and the shapes that they share.
#include "compiler/library/library_shapes.h"

#include <algorithm>

#include <llvm/ADT/STLExtras.h>

#include "ir/make_error.h"

namespace torc::compiler {
namespace {

// More sub-tori of all partitions than this indicate a typing error.
constexpr std::size_t kMostSubTori = 1u << 14;

/// Bandwidth of the fastest cable, to which `gap` refers.
double fastestCable(const model::Machine& machine) {
  double fastest = 0;
  for (const model::MachineDimension& dimension : machine.dimensions)
    fastest = std::max(fastest, dimension.bandwidth);
  return fastest;
}

/// All sub-tori, in the order of an index.
std::vector<Extents> subToriOf(const Topology& partition, SubToriKind kind) {
  // Counts like a number with extents as digits, the first axis being the slowest.
  std::vector<Extents> sub_tori;
  Extents extents{};
  for (std::uint32_t i = 0; i < partition.axis_count; ++i)
    extents[i] = 1;
  while (true) {
    if (isSubTorus(partition, extents)) sub_tori.push_back(extents);
    std::uint32_t i = partition.axis_count;
    while (i > 0 && extents[i - 1] == partition.axes[i - 1].size)
      extents[--i] = 1;
    if (i == 0) return sub_tori;
    const Axis& axis = partition.axes[i - 1];
    // Cores of a node: one, or all.
    const bool steps = kind == SubToriKind::kAll && axis.kind != AxisKind::kCore;
    extents[i - 1] = steps ? extents[i - 1] + 1 : axis.size;
  }
}

/// Whether the best schedules for one are also the best for the other.
bool isSameShape(const PlannedShape& a, const PlannedShape& b) {
  if (!(a.topology == b.topology) || a.machine.ranks_per_node != b.machine.ranks_per_node ||
      a.machine.cores != b.machine.cores) {
    return false;
  }
  for (std::uint32_t i = 0; i < a.machine.dimensions.size(); ++i) {
    if (a.machine.linkBandwidth(i) != b.machine.linkBandwidth(i)) return false;
  }
  return true;
}

}  // namespace

model::Machine subTorusMachine(const Target& partition, const Extents& extents,
                               const SubTorusAxes& axes) {
  const Topology topology = subTorusTopology(partition.topology, extents, axes);
  model::Machine machine = partition.machine;
  machine.dimensions.clear();
  for (int i = 0; i < topology.dimensions(); ++i) {
    const Axis& axis = topology.axes[static_cast<std::size_t>(i)];
    model::MachineDimension dimension =
        partition.machine.dimensions[axes[static_cast<std::size_t>(i)]];
    // A ring of two keeps its two cables.
    if (axis.size < dimension.size) dimension.torus = false;
    dimension.size = axis.size;
    machine.dimensions.push_back(dimension);
  }
  if (machine.gap > 0) machine.gap *= fastestCable(partition.machine) / fastestCable(machine);
  if (partition.topology.hasCores()) {
    // Each rank of a node has a core; here either one of them or all take part.
    const bool all = topology.hasCores();
    machine.ranks_per_node = all ? topology.axes[topology.axis_count - 1].size : 0;
    machine.cores = all ? machine.ranks_per_node : 1;
  }
  machine.dead_links.assign(topology.deadLinks().begin(), topology.deadLinks().end());
  machine.dead_nodes.assign(topology.deadNodes().begin(), topology.deadNodes().end());
  return machine;
}

llvm::Expected<LibraryShapes> libraryShapes(llvm::ArrayRef<Target> partitions, SubToriKind kind) {
  LibraryShapes plan;
  for (const Target& partition : partitions) {
    const Topology& topology = partition.topology;
    if (!isSubTorus(topology, wholeExtents(topology))) {
      return makeError("partition " + topology.shape() +
                       " has one node, there is nothing to schedule");
    }
    const auto is_same = [&](const LibraryPartition& other) { return other.topology == topology; };
    if (llvm::any_of(plan.partitions, is_same)) {
      return makeError("partition " + topology.shape() + " is there twice");
    }
    const auto number = static_cast<std::uint32_t>(plan.partitions.size());
    plan.partitions.push_back({topology});
    for (const Extents& extents : subToriOf(topology, kind)) {
      if (plan.sub_tori.size() == kMostSubTori) {
        return makeError("partition " + topology.shape() + ": more than " +
                         llvm::Twine(kMostSubTori) +
                         " sub-tori; --sub-tori whole-axes takes fewer");
      }
      const SubTorusAxes axes = canonicalAxes(topology, extents);
      PlannedShape shape{.topology = subTorusTopology(topology, extents, axes),
                         .machine = subTorusMachine(partition, extents, axes)};
      auto found = llvm::find_if(
          plan.shapes, [&](const PlannedShape& other) { return isSameShape(shape, other); });
      if (found == plan.shapes.end()) {
        plan.shapes.push_back(std::move(shape));
        found = std::prev(plan.shapes.end());
      }
      ++found->sub_tori;
      plan.sub_tori.push_back({.partition = number,
                               .extents = extents,
                               .shape = static_cast<std::uint32_t>(found - plan.shapes.begin()),
                               .axes = axes});
    }
  }
  return plan;
}

}  // namespace torc::compiler
