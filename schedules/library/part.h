// Parts of a partition: the sub-tori that a program's communicators may form (lines, planes,
// boxes), and the topology in which schedules for them are compiled.
#ifndef TORC_SCHEDULES_LIBRARY_PART_H_
#define TORC_SCHEDULES_LIBRARY_PART_H_

#include <array>
#include <cstdint>

#include "schedules/topology/topology.h"

namespace torc {

/// Nodes of a box along every axis of a partition; 0 for axes that the partition does not have.
using Extents = std::array<std::uint32_t, kMaxAxes>;

/// Which axis of the partition each axis of a part's topology is; 0 for axes that it does not have.
using PartAxes = std::array<std::uint8_t, kMaxAxes>;

/// The extents of the partition itself.
Extents wholeExtents(const Topology& partition);

/// Whether `extents` are those of a part: 1 to the size along every axis of `partition`, 0 along
/// others, and more than one node.
bool isPart(const Topology& partition, const Extents& extents);

/// The axes of extent over 1 in the order in which parts of equal links have equal topologies: by
/// extent, largest first, then by kind, bandwidth and latency, then by axis; cores last. `extents`
/// is a part's.
PartAxes canonicalAxes(const Topology& partition, const Extents& extents);

/// The topology of a part: axis i is axis axes[i] of `partition`, which keeps its kind where the
/// extent is whole, and is a line where it is shorter (cores stay cores). Axes are named X, Y, Z...
/// in this order, and X varies fastest with the rank. The partition itself has the partition's
/// damage, smaller parts none. `extents` is a part's, and `axes` names each axis of extent over 1
/// once.
Topology partTopology(const Topology& partition, const Extents& extents, const PartAxes& axes);

}  // namespace torc

#endif  // TORC_SCHEDULES_LIBRARY_PART_H_
