// Damage of a torus: the rules for its dead links and dead nodes.
#ifndef TORC_SCHEDULES_TOPOLOGY_DAMAGE_H_
#define TORC_SCHEDULES_TOPOLOGY_DAMAGE_H_

#include <string>

#include "schedules/topology/topology.h"
#include "support/status.h"

namespace torc {

/// "(0, 0, 1)": a node, without the axis of its cores.
std::string nodeText(const Topology& topology, const Coordinates& node);
/// "(0, 0, 1)Z": a link from that node one step up along Z.
std::string linkText(const Topology& topology, const DeadLink& link);

/// Rejects unsound damage of a topology with sound axes: each entry names an existing node or link
/// (inside, not beyond the end of a mesh, not on the axis of the cores), once, in order; unused
/// entries are blank; some node is alive, and every live node reaches every other. The time depends
/// on the number of damaged coordinates, not on the number of nodes.
void validateDamage(const Topology& topology);

}  // namespace torc

#endif  // TORC_SCHEDULES_TOPOLOGY_DAMAGE_H_
