#ifndef TORC_PASSES_EXCHANGES_EXCHANGE_H_
#define TORC_PASSES_EXCHANGES_EXCHANGE_H_

#include "passes/exchanges/exchange_steps.h"

namespace torc::passes {

/// Adds a message to every node that differs on the axes of the exchange alone: a send, a receive
/// and a copy, however many these are.
void expandExchange(ExchangeSteps steps, PeerOrder order, std::uint32_t window);

}  // namespace torc::passes

#endif  // TORC_PASSES_EXCHANGES_EXCHANGE_H_
