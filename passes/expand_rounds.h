// expand-rounds: turns reduce-scatters and allgathers in rounds into step operations.
#ifndef TORC_PASSES_EXPAND_ROUNDS_H_
#define TORC_PASSES_EXPAND_ROUNDS_H_

#include <compare>
#include <memory>

#include "passes/manager/pass.h"

namespace torc::passes {

struct ExpandRoundsPass {
  auto operator<=>(const ExpandRoundsPass&) const = default;
};

std::unique_ptr<Pass> makePass(const ExpandRoundsPass& options);

}  // namespace torc::passes

#endif  // TORC_PASSES_EXPAND_ROUNDS_H_
