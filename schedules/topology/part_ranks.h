// The members of a box as ranks of the schedules for such a box.
#ifndef TORC_SCHEDULES_TOPOLOGY_PART_RANKS_H_
#define TORC_SCHEDULES_TOPOLOGY_PART_RANKS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "schedules/library/part.h"
#include "schedules/topology/sub_torus.h"
#include "schedules/topology/topology.h"

namespace torc {

struct PartRanks {
  /// The order of the axes of the part's topology: with it, ranks count as follows.
  std::array<std::uint8_t, kMaxAxes> order{};
  /// The rank of each member; empty: its own number.
  std::vector<std::int32_t> table;
};

/// `shape` is the topology of the part that `box` is, with the damage, if the box is the whole of
/// a damaged partition; axis i of it is axis axes[i] of the partition.
PartRanks ranksInPart(const SubTorus& box, const Topology& shape, const PartAxes& axes);

}  // namespace torc

#endif  // TORC_SCHEDULES_TOPOLOGY_PART_RANKS_H_
