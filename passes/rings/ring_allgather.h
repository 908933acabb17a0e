// The steps of a ring ("bucket") allgather.
#ifndef TORC_PASSES_RINGS_RING_ALLGATHER_H_
#define TORC_PASSES_RINGS_RING_ALLGATHER_H_

#include "passes/rings/strand_steps.h"

namespace torc::passes {

/// Appends the steps of an allgather along `axis`, of more than one node; `steps.after()` is its
/// last step afterwards.
void expandRingAllgather(StrandSteps& steps, std::uint32_t axis);

}  // namespace torc::passes

#endif  // TORC_PASSES_RINGS_RING_ALLGATHER_H_
