// Makes plans of direct all-to-alls: one exchange along all axes of the network.
#include "compiler/algorithms/alltoall/direct.h"

#include "compiler/algorithms/alltoall/exchange_plan.h"

namespace torc::compiler {

llvm::Expected<ir::Program> lowerDirectAlltoall(const CollectiveSpec& spec) {
  return exchangePlan(spec, "direct", {networkAxisSet(spec.topology) | coreAxes(spec.topology)});
}

llvm::Expected<ir::Program> lowerAggregatedAlltoall(const CollectiveSpec& spec) {
  return exchangePlan(spec, "aggregated", {coreAxes(spec.topology), networkAxisSet(spec.topology)});
}

llvm::Expected<ir::Program> lowerDistributedAlltoall(const CollectiveSpec& spec) {
  return exchangePlan(spec, "distributed",
                      {networkAxisSet(spec.topology), coreAxes(spec.topology)});
}

llvm::Expected<ir::Program> lowerLeaderAlltoall(const CollectiveSpec& spec) {
  llvm::Expected<ir::Program> program =
      exchangePlan(spec, "leader", {networkAxisSet(spec.topology)});
  if (!program || !spec.topology.hasCores()) return program;
  const std::uint32_t cores = spec.topology.axis_count - 1;
  const ir::PlanOperation barrier{ir::PlanKind::kPhaseBarrier};
  std::vector<ir::PlanOperation>& plan = program->plan;
  plan.insert(plan.begin(), {{ir::PlanKind::kLeaderGather, 0, cores}, barrier});
  plan.insert(plan.end(), {barrier, {ir::PlanKind::kLeaderScatter, 0, cores}});
  return program;
}

ProgramSize estimateExchanges(const CollectiveSpec& spec) {
  ProgramSize size;
  size.operations = size.boxes = 64.0 * spec.topology.axis_count;
  return size;
}

}  // namespace torc::compiler
