// allocate-scratch{depth=2}: lets frames that do not live at the same time share a slot.
#ifndef TORC_PASSES_ALLOCATE_SCRATCH_H_
#define TORC_PASSES_ALLOCATE_SCRATCH_H_

#include <memory>

#include "passes/manager/pass.h"

namespace torc {

std::unique_ptr<Pass> createAllocateScratchPass();

}  // namespace torc

#endif  // TORC_PASSES_ALLOCATE_SCRATCH_H_
