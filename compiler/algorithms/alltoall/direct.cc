// The plan of the direct all-to-all: one exchange along all axes (passes/expand_exchanges.cc).
#include "compiler/algorithms/alltoall/direct.h"

#include "ir/step_builder.h"

namespace torc {

llvm::Expected<Program> planDirectAlltoall(const CollectiveSpec& spec) {
  const Topology& topology = spec.topology;
  if (topology.isDamaged()) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "direct: messages between all nodes cannot avoid the damage");
  }
  Program program;
  program.schedule = scheduleHeader(spec.collective, topology, 1);
  PlanOperation exchange{PlanKind::kExchange};
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    exchange.axes |= 1u << axis;
  }
  program.plan = {exchange};
  return program;
}

}  // namespace torc
