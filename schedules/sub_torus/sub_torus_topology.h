// Sub-tori by their extents, at any place: the ones of a partition (lines, planes, other boxes),
// and the topology for which their schedules are compiled.
#ifndef TORC_SCHEDULES_SUB_TORUS_SUB_TORUS_TOPOLOGY_H_
#define TORC_SCHEDULES_SUB_TORUS_SUB_TORUS_TOPOLOGY_H_

#include <array>
#include <cstdint>

#include "schedules/topology/topology.h"

namespace torc {

/// Nodes of a box along every axis of a partition; 0 for axes that the partition does not have.
using Extents = std::array<std::uint32_t, kMaxAxes>;

/// The axis of the partition for each axis of a sub-torus's topology; 0 beyond them.
using SubTorusAxes = std::array<std::uint8_t, kMaxAxes>;

/// The extents of the partition itself.
Extents wholeExtents(const Topology& partition);

/// Whether `extents` describe a sub-torus: 1 to the size along every axis of `partition`, 0 along
/// others, and more than one node.
bool isSubTorus(const Topology& partition, const Extents& extents);

/// The axes of extent over 1, ordered so that sub-tori of equal links have equal topologies: by
/// extent, largest first, then by kind, bandwidth and latency, then by axis; cores last. `extents`
/// describe a sub-torus.
SubTorusAxes canonicalAxes(const Topology& partition, const Extents& extents);

/// Coordinates of the partition, or of a box of it, in the axes of `sub_torus`.
Coordinates turned(const Coordinates& at, const Topology& sub_torus, const SubTorusAxes& axes);

/// The topology of a sub-torus: axis i is axis axes[i] of `partition`. It keeps its kind if the
/// extent is whole, and is a line if it is shorter (cores stay cores). Axes are named X, Y, Z... in
/// this order, and X varies fastest with the rank. The partition itself has the partition's damage,
/// smaller sub-tori none. `extents` describe a sub-torus, and `axes` names each axis of extent over
/// 1 once.
Topology subTorusTopology(const Topology& partition, const Extents& extents,
                          const SubTorusAxes& axes);

}  // namespace torc

#endif  // TORC_SCHEDULES_SUB_TORUS_SUB_TORUS_TOPOLOGY_H_
