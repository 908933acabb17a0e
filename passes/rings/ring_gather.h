#ifndef TORC_PASSES_RINGS_RING_GATHER_H_
#define TORC_PASSES_RINGS_RING_GATHER_H_

#include "passes/rings/strand_steps.h"

namespace torc::passes {

/// Adds the steps of a ring gather of the strand along `axis`, to the nodes at the root's
/// coordinate; `steps.after()` then has the dependences of the next phase.
void expandRingGather(StrandSteps& steps, std::uint32_t axis);

}  // namespace torc::passes

#endif  // TORC_PASSES_RINGS_RING_GATHER_H_
