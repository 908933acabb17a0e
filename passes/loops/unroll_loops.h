// unroll-loops: unrolls loops, iteration by iteration.
#ifndef TORC_PASSES_LOOPS_UNROLL_LOOPS_H_
#define TORC_PASSES_LOOPS_UNROLL_LOOPS_H_

#include <compare>
#include <memory>

#include "passes/manager/pass.h"

namespace torc::passes {

struct UnrollLoopsPass {
  auto operator<=>(const UnrollLoopsPass&) const = default;
};

std::unique_ptr<Pass> makePass(const UnrollLoopsPass& options);

}  // namespace torc::passes

#endif  // TORC_PASSES_LOOPS_UNROLL_LOOPS_H_
