// Makes plans of exchanges along sets of axes.
#include "compiler/algorithms/alltoall/exchange_plan.h"

#include <bit>

#include "ir/make_error.h"
#include "ir/step_builder.h"

namespace torc::compiler {

llvm::Expected<ir::Program> exchangePlan(const CollectiveSpec& spec, llvm::StringRef algorithm,
                                         llvm::ArrayRef<std::uint32_t> phases, ir::PlanKind kind) {
  if (spec.topology.isDamaged() && kind != ir::PlanKind::kRingAlltoall) {
    return makeError(algorithm + ": messages between all nodes cannot avoid the damage");
  }
  ir::Program program;
  program.schedule = ir::scheduleHeader(spec.collective, spec.topology, 1);
  const auto addPhase = [&](std::uint32_t axes) {
    ir::PlanOperation operation{kind};
    if (kind == ir::PlanKind::kExchange) {
      operation.axes = axes;
    } else {
      operation.axis = static_cast<std::uint32_t>(std::countr_zero(axes));
    }
    if (!program.plan.empty()) program.plan.push_back({ir::PlanKind::kPhaseBarrier});
    program.plan.push_back(operation);
  };
  for (const std::uint32_t axes : phases) {
    if (axes != 0) addPhase(axes);
  }
  if (program.plan.empty()) addPhase(1);  // a single node: nothing moves
  return program;
}

std::uint32_t coreAxes(const Topology& topology) {
  return topology.hasCores() ? 1u << (topology.axis_count - 1) : 0;
}

std::uint32_t networkAxisSet(const Topology& topology) {
  return ((1u << topology.axis_count) - 1) & ~coreAxes(topology);
}

}  // namespace torc::compiler
