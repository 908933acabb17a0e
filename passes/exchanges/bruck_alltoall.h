#ifndef TORC_PASSES_EXCHANGES_BRUCK_ALLTOALL_H_
#define TORC_PASSES_EXCHANGES_BRUCK_ALLTOALL_H_

#include <cstdint>

#include "passes/exchanges/exchange_steps.h"

namespace torc::passes {

/// Adds Bruck's all-to-all among the nodes of an axis that wraps: ceil(log2 d) messages.
void expandBruckAlltoall(ExchangeSteps steps, std::uint32_t axis);

}  // namespace torc::passes

#endif  // TORC_PASSES_EXCHANGES_BRUCK_ALLTOALL_H_
