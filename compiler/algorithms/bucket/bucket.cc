// The bucket algorithm ("Optimal Bucket Algorithms for Large MPI Collectives on Torus
// Interconnects", section 4 and Algorithm 1): ring reduce-scatters along one axis after another,
// each on 1/d of the data of the one before; an allgather is the same in reverse; an allreduce is
// one after the other.
//
// With N colors in rotated axis orders, each halved over the two directions, a reduce-scatter of n
// bytes on a torus of p = d_1 ... d_N nodes costs at most (equation 2)
//   2N sum (d_i - 1) alpha + (p-1)/p n gamma
//     + (d_l - 1)/d_l n beta/(2N) (d_s^N - 1)/d_s^N d_s/(d_s - 1),
// d_l and d_s the longest and the shortest axis; on a symmetric torus the last term is the lower
// bound (p-1)/p n beta/(2N). In a single color, one axis at a time, it costs on a ring (equation 1)
//   (p-1) alpha + (p-1)/p n beta + (p-1)/p n gamma,
// and less by half in the beta term where both directions are used.
//
// The plan is the single color; passes make the rest of it. It names every axis, those of one node
// too, on which nothing moves.
#include "compiler/algorithms/bucket/bucket.h"

#include "ir/step_builder.h"

namespace torc::compiler {

llvm::Expected<ir::Program> planBucket(const CollectiveSpec& spec) {
  const CollectiveRow& row = rowOf(spec.collective);
  return planAxisByAxis(
      spec, row.reduces() ? ir::PlanKind::kRingReduceScatter : ir::PlanKind::kRingScatter,
      row.isRooted() && row.reduces() ? ir::PlanKind::kRingGather : ir::PlanKind::kRingAllgather);
}

ir::Program planAxisByAxis(const CollectiveSpec& spec, ir::PlanKind divides, ir::PlanKind gathers) {
  ir::Program program;
  program.schedule = ir::scheduleHeader(spec.collective, spec.topology);

  // Data is reduced inside a node before it goes out: T, the last axis, comes first.
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

}  // namespace torc::compiler
