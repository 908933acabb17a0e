// What is broken of a torus: the rules that dead links and dead nodes obey.
#ifndef TORC_SCHEDULES_TOPOLOGY_DAMAGE_H_
#define TORC_SCHEDULES_TOPOLOGY_DAMAGE_H_

#include <string>

#include "schedules/topology/topology.h"
#include "support/status.h"

namespace torc {

/// "(0, 0, 1)": a node, without the axis of the cores.
std::string nodeText(const Topology& topology, const Coordinates& node);
/// "(0, 0, 1)Z": a link from that node one step up along Z.
std::string linkText(const Topology& topology, const DeadLink& link);

/// Whether the damage of a topology, whose axes are sound, is: each thing is there to be broken
/// (inside, not beyond the end of a mesh, not on the axis of the cores), once, in order; what the
/// table does not use is blank; some node is alive, and every live node reaches every other. The
/// time taken depends on the number of damaged coordinates, not on the number of nodes.
Status validateDamage(const Topology& topology);

}  // namespace torc

#endif  // TORC_SCHEDULES_TOPOLOGY_DAMAGE_H_
