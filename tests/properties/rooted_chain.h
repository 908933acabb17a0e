// Rooted chains: an allreduce whose data go node by node to the origin and back, along one axis of
// a torus after the other. Its guards count from the root, as those of rooted collectives do.
#ifndef TORC_TESTS_PROPERTIES_ROOTED_CHAIN_H_
#define TORC_TESTS_PROPERTIES_ROOTED_CHAIN_H_

#include <cstdint>
#include <vector>

#include "schedules/schedule.h"

namespace torc {

/// On a torus of these sizes, 3 at least, of one to seven dimensions. The vector goes in `chunks`
/// one after the other, so that all axes have something to do at once.
Schedule rootedChain(const std::vector<std::uint32_t>& sizes, std::uint32_t chunks);

}  // namespace torc

#endif  // TORC_TESTS_PROPERTIES_ROOTED_CHAIN_H_
