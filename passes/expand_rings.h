// expand-rings: turns ring plan operations into step operations.
#ifndef TORC_PASSES_EXPAND_RINGS_H_
#define TORC_PASSES_EXPAND_RINGS_H_

#include <memory>

#include "passes/manager/pass.h"

namespace torc {

std::unique_ptr<Pass> createExpandRingsPass();

}  // namespace torc

#endif  // TORC_PASSES_EXPAND_RINGS_H_
