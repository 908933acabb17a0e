// Plans of direct all-to-alls: one exchange along all axes of the network.
#include "compiler/algorithms/alltoall/direct.h"

#include "compiler/algorithms/alltoall/exchange_plan.h"

namespace torc {

llvm::Expected<Program> planDirectAlltoall(const CollectiveSpec& spec) {
  return exchangePlan(spec, "direct", {networkAxisSet(spec.topology) | coreAxes(spec.topology)});
}

llvm::Expected<Program> planAggregatedAlltoall(const CollectiveSpec& spec) {
  return exchangePlan(spec, "aggregated", {coreAxes(spec.topology), networkAxisSet(spec.topology)});
}

llvm::Expected<Program> planDistributedAlltoall(const CollectiveSpec& spec) {
  return exchangePlan(spec, "distributed",
                      {networkAxisSet(spec.topology), coreAxes(spec.topology)});
}

llvm::Expected<Program> planLeaderAlltoall(const CollectiveSpec& spec) {
  llvm::Expected<Program> program = exchangePlan(spec, "leader", {networkAxisSet(spec.topology)});
  if (!program || !spec.topology.hasCores()) return program;
  const std::uint32_t cores = spec.topology.axis_count - 1;
  const PlanOperation barrier{PlanKind::kPhaseBarrier};
  std::vector<PlanOperation>& plan = program->plan;
  plan.insert(plan.begin(), {{PlanKind::kLeaderGather, 0, cores}, barrier});
  plan.insert(plan.end(), {barrier, {PlanKind::kLeaderScatter, 0, cores}});
  return program;
}

ProgramSize estimateExchanges(const CollectiveSpec& spec) {
  ProgramSize size;
  size.operations = size.boxes = 64.0 * spec.topology.axis_count;
  return size;
}

}  // namespace torc
