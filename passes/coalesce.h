// coalesce: fuses a receive and the reduction of what it received into recv_reduce.
#ifndef TORC_PASSES_COALESCE_H_
#define TORC_PASSES_COALESCE_H_

#include <memory>

#include "passes/manager/pass.h"

namespace torc {

std::unique_ptr<Pass> createCoalescePass();

}  // namespace torc

#endif  // TORC_PASSES_COALESCE_H_
