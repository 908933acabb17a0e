// expand-rings: turns ring plan operations into step operations.
#ifndef TORC_PASSES_EXPAND_RINGS_H_
#define TORC_PASSES_EXPAND_RINGS_H_

#include <compare>
#include <memory>

#include "passes/manager/pass.h"

namespace torc::passes {

struct ExpandRingsPass {
  auto operator<=>(const ExpandRingsPass&) const = default;
};

std::unique_ptr<Pass> makePass(const ExpandRingsPass& options);

}  // namespace torc::passes

#endif  // TORC_PASSES_EXPAND_RINGS_H_
