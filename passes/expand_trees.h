// expand-trees: turns tree broadcasts and tree reductions into step operations.
#ifndef TORC_PASSES_EXPAND_TREES_H_
#define TORC_PASSES_EXPAND_TREES_H_

#include <compare>
#include <memory>

#include "passes/manager/pass.h"

namespace torc::passes {

struct ExpandTreesPass {
  auto operator<=>(const ExpandTreesPass&) const = default;
};

std::unique_ptr<Pass> makePass(const ExpandTreesPass& options);

}  // namespace torc::passes

#endif  // TORC_PASSES_EXPAND_TREES_H_
