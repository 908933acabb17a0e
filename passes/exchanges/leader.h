#ifndef TORC_PASSES_EXCHANGES_LEADER_H_
#define TORC_PASSES_EXCHANGES_LEADER_H_

#include "passes/exchanges/exchange_steps.h"

namespace torc {

/// Adds the steps by which the cores of a node, along the axis of `steps`, bring all that they send
/// to the first of them, which alone executes the exchanges that follow.
void expandLeaderGather(ExchangeSteps steps, std::uint32_t axis);

/// Adds the steps by which that core gives each of the others what it gets.
void expandLeaderScatter(ExchangeSteps steps, std::uint32_t axis);

}  // namespace torc

#endif  // TORC_PASSES_EXCHANGES_LEADER_H_
