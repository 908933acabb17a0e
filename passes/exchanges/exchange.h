#ifndef TORC_PASSES_EXCHANGES_EXCHANGE_H_
#define TORC_PASSES_EXCHANGES_EXCHANGE_H_

#include "passes/exchanges/exchange_steps.h"

namespace torc::passes {

/// Adds a message to every node that differs only on the axes of the exchange: one send, one
/// receive and one copy for all of them.
void expandExchange(ExchangeSteps steps, PeerOrder order, std::uint32_t window);

}  // namespace torc::passes

#endif  // TORC_PASSES_EXCHANGES_EXCHANGE_H_
