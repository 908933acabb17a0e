// coalesce: fuses a receive and the reduction of the received data into recv_reduce.
#ifndef TORC_PASSES_COALESCE_H_
#define TORC_PASSES_COALESCE_H_

#include <compare>
#include <memory>

#include "passes/manager/pass.h"

namespace torc::passes {

struct CoalescePass {
  auto operator<=>(const CoalescePass&) const = default;
};

std::unique_ptr<Pass> makePass(const CoalescePass& options);

}  // namespace torc::passes

#endif  // TORC_PASSES_COALESCE_H_
