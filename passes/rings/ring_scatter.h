#ifndef TORC_PASSES_RINGS_RING_SCATTER_H_
#define TORC_PASSES_RINGS_RING_SCATTER_H_

#include "passes/rings/strand_steps.h"

namespace torc::passes {

/// Adds the steps of a ring scatter of the strand along `axis`, in the nodes that have its blocks;
/// `steps.after()` then has the dependences of the next phase.
void expandRingScatter(StrandSteps& steps, std::uint32_t axis);

}  // namespace torc::passes

#endif  // TORC_PASSES_RINGS_RING_SCATTER_H_
