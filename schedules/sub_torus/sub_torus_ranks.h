// Maps the members of a box to the ranks of its schedules.
#ifndef TORC_SCHEDULES_SUB_TORUS_SUB_TORUS_RANKS_H_
#define TORC_SCHEDULES_SUB_TORUS_SUB_TORUS_RANKS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "schedules/sub_torus/sub_torus.h"
#include "schedules/sub_torus/sub_torus_topology.h"
#include "schedules/topology/topology.h"

namespace torc {

struct SubTorusRanks {
  /// The order of the axes of the sub-torus's topology, which defines the ranks below.
  std::array<std::uint8_t, kMaxAxes> order{};
  /// The rank of each member; empty: its own number.
  std::vector<std::int32_t> table;
};

/// `shape` is the topology of the sub-torus, with the damage if the box is the whole of a damaged
/// partition; its axis i is axis axes[i] of the partition.
SubTorusRanks ranksInSubTorus(const SubTorus& box, const Topology& shape, const SubTorusAxes& axes);

}  // namespace torc

#endif  // TORC_SCHEDULES_SUB_TORUS_SUB_TORUS_RANKS_H_
