// The narrowest cut of a network: what a broadcast from any node can pass through, since every link
// carries as much one way as the other (so that it is the least of all maximum flows from the
// root).
#ifndef TORC_MODEL_BOUNDS_MINIMUM_CUT_H_
#define TORC_MODEL_BOUNDS_MINIMUM_CUT_H_

#include "model/bounds/network.h"

namespace torc::model {

/// Most live nodes of a network that `minimumCut` searches: its time grows with their third power.
inline constexpr double kMaxMinimumCutNodes = 600;

/// Bandwidth of the narrowest cut, of all sets of nodes. `network` has 2 to kMaxMinimumCutNodes
/// live nodes.
double minimumCut(const Network& network);

}  // namespace torc::model

#endif  // TORC_MODEL_BOUNDS_MINIMUM_CUT_H_
