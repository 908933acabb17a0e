// Makes plans of two exchanges, and chooses the linear dimension.
#include "compiler/algorithms/alltoall/two_phase.h"

#include <llvm/ADT/STLExtras.h>

#include "compiler/algorithms/alltoall/exchange_plan.h"
#include "passes/analysis/plan_axes.h"

namespace torc::compiler {
namespace {

llvm::Expected<ir::Program> planAlong(const CollectiveSpec& spec, llvm::StringRef algorithm,
                                      std::uint32_t linear) {
  const std::uint32_t along = linear == kNone ? 0 : 1u << linear;
  return exchangePlan(spec, algorithm,
                      {coreAxes(spec.topology), along, networkAxisSet(spec.topology) & ~along});
}

}  // namespace

std::uint32_t linearDimension(const Topology& topology) {
  const auto dimensions = passes::networkAxes(topology);
  std::uint32_t longest = kNone, splits_off = kNone;
  const auto longer = [&](std::uint32_t dimension, std::uint32_t than) {
    return than == kNone || topology.axes[dimension].size > topology.axes[than].size;
  };
  for (const std::uint32_t dimension : dimensions) {
    if (longer(dimension, longest)) longest = dimension;
    std::uint32_t size = 0;  // of the other dimensions; 0: not yet known
    const bool symmetric = llvm::all_of(dimensions, [&](std::uint32_t other) {
      if (other == dimension) return true;
      if (size == 0) size = topology.axes[other].size;
      return topology.axes[other].size == size;
    });
    if (symmetric && longer(dimension, splits_off)) splits_off = dimension;
  }
  return splits_off == kNone ? longest : splits_off;
}

llvm::Expected<ir::Program> lowerTwoPhaseAlltoall(const CollectiveSpec& spec) {
  return planAlong(spec, "two-phase", linearDimension(spec.topology));
}

llvm::Expected<ir::Program> lowerRotatedTwoPhaseAlltoall(const CollectiveSpec& spec) {
  const auto dimensions = passes::networkAxes(spec.topology);
  return planAlong(spec, "rotated-two-phase", dimensions.empty() ? kNone : dimensions.front());
}

}  // namespace torc::compiler
