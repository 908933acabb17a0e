// Computes times and numbers of segments of pipelines.
#include "compiler/algorithms/trees/tree_pipeline.h"

#include <algorithm>
#include <cmath>

namespace torc::compiler {
namespace {

/// Seconds per byte of the slowest link plus the core's injection.
double transfer(const model::Machine& machine) {
  double slowest = 0;
  for (std::uint32_t i = 0; i < machine.dimensions.size(); ++i) {
    if (machine.dimensions[i].size > 1) slowest = std::max(slowest, 1 / machine.linkBandwidth(i));
  }
  return slowest + (machine.injection > 0 ? 1 / machine.injection : 0.0);
}

/// Seconds for an empty message over one hop.
double startUp(const model::Machine& machine) {
  double hop = 0;
  for (const model::MachineDimension& dimension : machine.dimensions)
    hop = std::max(hop, dimension.latency);
  return machine.alpha + 2 * machine.overhead + machine.message_gap + machine.latency + hop +
         machine.envelope * transfer(machine);
}

}  // namespace

double TreePipeline::seconds(const model::Machine& machine, double bytes, double segments,
                             std::uint32_t in_flight, bool reduces) const {
  double per_byte = transfer(machine);
  if (reduces) {
    per_byte +=
        std::max(machine.gamma, machine.memory_bandwidth > 0 ? 3 / machine.memory_bandwidth : 0.0);
  }
  const double moved = share * bytes * per_byte / segments;
  return (hops - 1 + segments) * std::max(messages * startUp(machine) + moved / in_flight, moved);
}

std::uint32_t TreePipeline::bestSegments(const model::Machine& machine, double bytes,
                                         std::uint32_t most) const {
  const double moved = (hops - 1) * share * bytes * transfer(machine);
  const double start_up = messages * startUp(machine);
  if (moved <= 0) return 1;
  if (start_up * most * most <= moved) return most;
  return std::max(1u, static_cast<std::uint32_t>(std::lround(std::sqrt(moved / start_up))));
}

std::uint32_t TreePipeline::mostStaggered(const model::Machine& machine, double bytes,
                                          std::uint32_t in_flight, std::uint32_t most) const {
  const double start_ups = 2.0 * in_flight * startUp(machine);
  const double moved = share * bytes * transfer(machine);
  return moved >= start_ups * most ? most : static_cast<std::uint32_t>(moved / start_ups);
}

TreePipeline rectangularPipeline(const Topology& topology) {
  TreePipeline pipeline{0, 1};
  std::uint32_t trees = 0;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    pipeline.hops += topology.axes[i].size - 1;
    if (topology.axes[i].size > 1) trees += 2;
  }
  if (trees != 2) ++pipeline.hops;
  if (trees > 0) pipeline.share = 1.0 / trees;
  return pipeline;
}

TreePipeline dimensionTreePipeline(const Topology& topology) {
  TreePipeline pipeline{0, 1};
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const Axis& axis = topology.axes[i];
    pipeline.hops += axis.wraps() ? axis.size / 2 : axis.size - 1;
  }
  pipeline.hops = std::max(pipeline.hops, 1.0);
  return pipeline;
}

ProgramSize treesSize(const CollectiveSpec& spec, double trees, double of_node) {
  double axes = 0, lengths = 0;
  for (std::uint32_t i = 0; i < spec.topology.axis_count; ++i) {
    const Axis& axis = spec.topology.axes[i];
    if (axis.size == 1) continue;
    ++axes;
    lengths += axis.size;
  }
  ProgramSize size;
  size.operations = 8 * trees * (1 + axes);
  size.boxes = size.operations;
  size.cell_steps = of_node * lengths;
  size.of_nodes = true;
  return size;
}

}  // namespace torc::compiler
