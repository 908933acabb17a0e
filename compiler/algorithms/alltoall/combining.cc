// Makes plans of all-to-alls with one exchange per axis.
#include "compiler/algorithms/alltoall/combining.h"

#include "compiler/algorithms/alltoall/exchange_plan.h"
#include "passes/analysis/plan_axes.h"

namespace torc::compiler {
namespace {

/// Sets of one axis each: cores first, then the dimensions in their order.
llvm::SmallVector<std::uint32_t, kMaxAxes> oneByOne(const Topology& topology) {
  llvm::SmallVector<std::uint32_t, kMaxAxes> sets = {coreAxes(topology)};
  for (const std::uint32_t dimension : passes::networkAxes(topology))
    sets.push_back(1u << dimension);
  return sets;
}

}  // namespace

llvm::Expected<ir::Program> lowerVirtualMeshAlltoall(const CollectiveSpec& spec) {
  return exchangePlan(spec, "virtual-mesh", oneByOne(spec.topology));
}

llvm::Expected<ir::Program> lowerBruckAlltoall(const CollectiveSpec& spec) {
  return exchangePlan(spec, "bruck", oneByOne(spec.topology), ir::PlanKind::kBruckAlltoall);
}

llvm::Expected<ir::Program> lowerRingAlltoall(const CollectiveSpec& spec) {
  return exchangePlan(spec, "rings", oneByOne(spec.topology), ir::PlanKind::kRingAlltoall);
}

}  // namespace torc::compiler
