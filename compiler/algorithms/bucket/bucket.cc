// The bucket algorithm ("Optimal Bucket Algorithms for Large MPI Collectives on Torus
// Interconnects", section 4 and Algorithm 1): ring reduce-scatters along one axis after another,
// each on 1/d of the data of the previous one. An allgather is the same in reverse; an allreduce is
// a reduce-scatter and then an allgather.
//
// With N colors in rotated axis orders, each halved over the two directions, a reduce-scatter of n
// bytes on a torus of p = d_1 ... d_N nodes costs at most (equation 2)
//   2N sum (d_i - 1) alpha + (p-1)/p n gamma
//     + (d_l - 1)/d_l n beta/(2N) (d_s^N - 1)/d_s^N d_s/(d_s - 1),
// d_l and d_s the longest and the shortest axis; on a symmetric torus the last term is the lower
// bound (p-1)/p n beta/(2N). In a single color, one axis at a time, it costs on a ring (equation 1)
//   (p-1) alpha + (p-1)/p n beta + (p-1)/p n gamma,
// with half of the beta term if both directions are used.
//
// The plan has a single color; passes add the others. It names every axis, including axes of one
// node, on which nothing moves.
#include "compiler/algorithms/bucket/bucket.h"

#include <algorithm>

#include "ir/step_builder.h"

namespace torc::compiler {

llvm::Expected<ir::Program> lowerBucket(const CollectiveSpec& spec) {
  const CollectiveRow& row = rowOf(spec.collective);
  return planAxisByAxis(
      spec, row.reduces() ? ir::PlanKind::kRingReduceScatter : ir::PlanKind::kRingScatter,
      row.isRooted() && row.reduces() ? ir::PlanKind::kRingGather : ir::PlanKind::kRingAllgather);
}

ir::Program planAxisByAxis(const CollectiveSpec& spec, ir::PlanKind divides, ir::PlanKind gathers) {
  ir::Program program;
  program.schedule = ir::scheduleHeader(spec.collective, spec.topology);

  // Data is reduced inside a node before it leaves the node: T, the last axis, comes first.
  Color color;
  color.axis_count = spec.topology.axis_count;
  const std::uint32_t first = spec.topology.hasCores() ? color.axis_count - 1 : 0;
  for (std::uint32_t i = 0; i < color.axis_count; ++i) {
    color.order[i] = static_cast<std::uint8_t>((first + i) % color.axis_count);
  }
  program.schedule.colors.push_back(color);

  auto addPhase = [&](ir::PlanKind kind, std::uint32_t axis) {
    if (!program.plan.empty()) program.plan.push_back({ir::PlanKind::kPhaseBarrier, 0, 0});
    program.plan.push_back({kind, 0, axis});
  };
  const CollectiveRow& row = rowOf(spec.collective);
  if (row.inWhole()) {
    for (std::uint32_t i = 0; i < color.axis_count; ++i) {
      addPhase(divides, color.order[i]);
    }
  }
  if (row.outWhole()) {
    for (std::uint32_t i = color.axis_count; i-- > 0;) {
      addPhase(gathers, color.order[i]);
    }
  }
  return program;
}

namespace {

/// Estimates the program: a step of a ring or a line has a few operations per part.
ProgramSize estimateRings(const CollectiveSpec& spec, bool in_colors) {
  const CollectiveRow& row = rowOf(spec.collective);
  const Topology& topology = spec.topology;
  double axes = 0, divide = 0, gather = 0;  // operations per part
  double squares = 0;                       // of the numbers of steps
  bool has_ring = false, has_line = false;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (topology.axes[i].size == 1) continue;
    const double steps = topology.axes[i].size - 1.0;
    const bool is_ring = topology.axes[i].wraps() && !topology.isLine(i);
    has_ring |= is_ring;
    has_line |= !is_ring;
    axes += topology.axes[i].kind != AxisKind::kCore;
    squares += steps * steps;
    if (row.inWhole()) divide += steps * (is_ring ? 2 : 5);
    if (row.outWhole()) gather += steps * (is_ring ? 2 : 5);
  }
  const double parts = (in_colors ? std::max(axes, 1.0) : 1) * (has_ring ? 2 : 1);
  ProgramSize size;
  size.operations = parts * (divide + gather);
  if (row.isRooted()) size.operations *= 1.25;
  if (topology.isBroken()) {
    // Each dead node or link adds messages on detours to a step.
    const double ways = 4 * std::max(axes, 1.0);
    double steps = 0;
    for (std::uint32_t i = 0; i < topology.axis_count; ++i)
      steps += (topology.axes[i].size - 1.0) * topology.dead_node_count;
    for (const DeadLink& link : topology.deadLinks())
      steps += topology.axes[link.axis].size - 1.0;
    size.operations += parts * steps * ways * ((row.inWhole() ? 1 : 0) + (row.outWhole() ? 1 : 0));
  }
  size.boxes = size.operations / 2;
  if (topology.isBroken()) {
    size.cell_steps = (row.reduces() ? 0.5 : 0.1) * size.operations * size.operations;
  } else if (row.isRooted() || has_line) {
    size.cell_steps = 1.4 * size.operations * size.operations / parts;
  } else {
    // Every step of a reduction searches groups of earlier steps.
    size.proof_steps = 5 * size.operations;
    if (row.reduces()) size.proof_steps += 0.012 * parts * squares;
  }
  return size;
}

}  // namespace

ProgramSize estimateBucket(const CollectiveSpec& spec) {
  return estimateRings(spec, true);
}

ProgramSize estimateBucketOfOneColor(const CollectiveSpec& spec) {
  return estimateRings(spec, false);
}

}  // namespace torc::compiler
