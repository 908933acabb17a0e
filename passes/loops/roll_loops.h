// roll-loops: turns repeated steps into loops.
#ifndef TORC_PASSES_LOOPS_ROLL_LOOPS_H_
#define TORC_PASSES_LOOPS_ROLL_LOOPS_H_

#include <compare>
#include <cstdint>
#include <memory>

#include "passes/manager/pass.h"

namespace torc::passes {

inline constexpr std::uint32_t kMostLeastIterations = 1u << 16;

struct RollLoopsPass {
  std::uint32_t least = 4;  // minimal number of iterations
  auto operator<=>(const RollLoopsPass&) const = default;
};

std::unique_ptr<Pass> makePass(const RollLoopsPass& options);

}  // namespace torc::passes

#endif  // TORC_PASSES_LOOPS_ROLL_LOOPS_H_
