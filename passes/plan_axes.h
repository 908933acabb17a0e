// Which axes of a plan take part in a collective, and which of them its ring operations use.
#ifndef TORC_PASSES_PLAN_AXES_H_
#define TORC_PASSES_PLAN_AXES_H_

#include <cstdint>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include "ir/program.h"

namespace torc {

/// The network axes of more than one node: N of them in the papers' formulas. An axis of size 1
/// moves nothing; cores are not a dimension of the network.
llvm::SmallVector<std::uint32_t, kMaxAxes> networkAxes(const Topology& topology);

/// Whether in no phase of the plan two colors have a ring along the same axis of size > 1.
bool isConflictFree(const Topology& topology, llvm::ArrayRef<PlanOperation> plan);

}  // namespace torc

#endif  // TORC_PASSES_PLAN_AXES_H_
