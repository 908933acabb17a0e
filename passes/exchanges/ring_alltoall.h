#ifndef TORC_PASSES_EXCHANGES_RING_ALLTOALL_H_
#define TORC_PASSES_EXCHANGES_RING_ALLTOALL_H_

#include <cstdint>

#include "passes/exchanges/exchange_steps.h"

namespace torc::passes {

/// Adds an all-to-all around the ring of an axis, in messages between neighbours. The first
/// messages wait for `link_before` too. Returns the last messages that the node sends.
ir::OperationIndices expandRingAlltoall(ExchangeSteps steps, std::uint32_t axis,
                                        const ir::OperationIndices& link_before);

/// Upper bound of the operations and dependences added.
struct RingAlltoallSize {
  std::uint64_t operations = 0;
  std::uint64_t dependences = 0;
};
RingAlltoallSize sizeOfRingAlltoall(std::uint32_t ring, std::size_t waits_for);

}  // namespace torc::passes

#endif  // TORC_PASSES_EXCHANGES_RING_ALLTOALL_H_
