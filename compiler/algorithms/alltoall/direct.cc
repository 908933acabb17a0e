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

}  // namespace torc
