// Rounds for measuring the links between neighbours along an axis: every link is in one round, and
// no node in two pairs of a round. Their number does not grow with the axis.
//
// A line, and a ring of even size: links up from even coordinates, then from odd ones. A ring of
// odd size has a third round for the link that closes it.
#ifndef TORC_RUNTIME_RUN_CALIBRATION_LINK_ROUNDS_H_
#define TORC_RUNTIME_RUN_CALIBRATION_LINK_ROUNDS_H_

#include <cstdint>

#include "schedules/topology/topology.h"

namespace torc::runtime {

/// The end of a link that a node is in a round. A link leads up from its low end.
enum class LinkEnd { kNone, kLow, kHigh };

/// 0 for an axis without links. Two nodes are one pair, with any number of cables.
int linkRounds(const Axis& axis);

/// `coordinate` along the axis, `round` from 0 to below linkRounds.
LinkEnd linkEnd(const Axis& axis, std::int32_t coordinate, int round);

/// Steps from coordinate 0 to a most distant node along the axis, which shows the latency of hops
/// best.
std::int32_t farthest(const Axis& axis);

/// Number of links from a node inside the torus. Two links to the same neighbour count twice.
int linksOfNode(const Topology& topology);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_CALIBRATION_LINK_ROUNDS_H_
