#ifndef TORC_PASSES_EXCHANGES_LEADER_H_
#define TORC_PASSES_EXCHANGES_LEADER_H_

#include "passes/exchanges/exchange_steps.h"

namespace torc::passes {

/// Adds the steps by which the cores of a node, along the axis of `steps`, bring all their outgoing
/// blocks to the first of them (`steps.gathers()`). That core alone executes the exchanges that
/// follow. Otherwise it gives each of the others its blocks.
void expandOfLeader(ExchangeSteps steps, std::uint32_t axis);

}  // namespace torc::passes

#endif  // TORC_PASSES_EXCHANGES_LEADER_H_
