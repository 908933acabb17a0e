// The steps of a ring ("bucket") reduce-scatter.
#ifndef TORC_PASSES_RINGS_RING_REDUCE_SCATTER_H_
#define TORC_PASSES_RINGS_RING_REDUCE_SCATTER_H_

#include "passes/rings/strand_steps.h"

namespace torc::passes {

/// Appends the steps of a reduce-scatter along `axis`, of more than one node; `steps.after()` is
/// its last step afterwards.
void expandRingReduceScatter(StrandSteps& steps, std::uint32_t axis);

}  // namespace torc::passes

#endif  // TORC_PASSES_RINGS_RING_REDUCE_SCATTER_H_
