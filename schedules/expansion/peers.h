// The peers of a loop over peers, in the order in which a rank visits them.
#ifndef TORC_SCHEDULES_EXPANSION_PEERS_H_
#define TORC_SCHEDULES_EXPANSION_PEERS_H_

#include <cstdint>
#include <vector>

#include "schedules/schedule.h"

namespace torc {

/// The shifts of `peers`, without that to the node itself: the first axis fastest or, where they
/// are shuffled, in an order drawn from `rank` and `operation`, the same in every run and on every
/// machine.
std::vector<Shift> shiftsOf(const PeerLoop& peers, std::int32_t rank, std::uint32_t operation);

}  // namespace torc
   // order drawn from `rank` and `operation`, the same in every run and on every machine.

#endif  // TORC_SCHEDULES_EXPANSION_FAMILY_H_
