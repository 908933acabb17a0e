// allocate-scratch{depth=2}: lets frames with disjoint lifetimes share a slot.
#ifndef TORC_PASSES_ALLOCATE_SCRATCH_H_
#define TORC_PASSES_ALLOCATE_SCRATCH_H_

#include <compare>
#include <cstdint>
#include <memory>

#include "passes/manager/pass.h"

namespace torc::passes {

inline constexpr std::uint32_t kMostScratchDepth = 64;

struct AllocateScratchPass {
  std::uint32_t depth = 2;  // receives of a stream that can be posted ahead

  auto operator<=>(const AllocateScratchPass&) const = default;
};

std::unique_ptr<Pass> makePass(const AllocateScratchPass& options);

}  // namespace torc::passes

#endif  // TORC_PASSES_ALLOCATE_SCRATCH_H_
