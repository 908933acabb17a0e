// Rounds in which the links between neighbours along an axis are measured: every link in one round,
// and no node in two pairs at a time. Their number does not grow with the axis.
//
// A line, and a ring of even size: links up from even coordinates, then from odd ones. A ring of
// odd size: the link that closes it comes third.
#ifndef TORC_RUNTIME_RUN_CALIBRATION_LINK_ROUNDS_H_
#define TORC_RUNTIME_RUN_CALIBRATION_LINK_ROUNDS_H_

#include <cstdint>

#include "schedules/topology/topology.h"

namespace torc::runtime {

/// Which end of a link a node is in a round. A link leads up from its low end.
enum class LinkEnd { kNone, kLow, kHigh };

/// 0 where the axis has no links. Two nodes are one pair, with however many cables.
int linkRounds(const Axis& axis);

/// `coordinate` along the axis, `round` from 0 to below linkRounds.
LinkEnd linkEnd(const Axis& axis, std::int32_t coordinate, int round);

/// Steps from coordinate 0 to a node that is as far away as any along the axis: there the latency
/// of hops shows best.
std::int32_t farthest(const Axis& axis);

/// Links that a node inside the torus sends on. Two ways round to one neighbour are two.
int linksOfNode(const Topology& topology);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_CALIBRATION_LINK_ROUNDS_H_
