// Sub-tori: recognises a set of ranks as a line, a plane or another box of a partition, with their
// order in it. A schedule serves the ranks of such a box in any order.
#ifndef TORC_SCHEDULES_SUB_TORUS_SUB_TORUS_H_
#define TORC_SCHEDULES_SUB_TORUS_SUB_TORUS_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "schedules/sub_torus/sub_torus_topology.h"
#include "schedules/topology/topology.h"
#include "support/status.h"

namespace torc {

/// A box of a partition and its members, numbered from 0 in the order given.
///
/// *Positions* are coordinates within the box: along each axis steps up from `start`, modulo the
/// size of the axis. A box with a whole ring, or all the cores of a node, begins there at the
/// coordinate of member 0. (But the whole of a damaged partition begins at 0, like its schedules.)
struct SubTorus {
  Coordinates start{};
  Extents extents{};

  /// Whether the members are in the order of some order of axes, dead nodes left out.
  bool ordered = false;
  std::uint32_t order_count = 0;               // axes with an extent over 1
  std::array<std::uint8_t, kMaxAxes> order{};  // if ordered: these axes, from fastest to slowest
  /// If not ordered: each member's position as a number, the first axis fastest.
  std::vector<std::int32_t> table;

  std::uint64_t positions() const;
  /// The position of a member of an unordered box.
  Coordinates positionOf(std::size_t member) const;

  bool operator==(const SubTorus&) const = default;
};

/// The whole partition, with ranks in its own order and no table.
SubTorus wholePartition(const Topology& partition);

/// Recognises members by their sites (see Topology). A single node is a box, too. The whole of a
/// damaged partition is its live nodes.
///
/// Errors: kUnsupported, with the obstacle: `7 ranks do not fill the box 2x4x1 from (0, 0, 0): (1,
/// 3, 0) is missing`, `the box 2x4x1 from (0, 0, 0) contains the dead link (0, 1, 0)Y`.
/// kInvalidArgument: two members at one position, one at a dead node or outside the partition. Time
/// and memory are proportional to the number of members.
StatusOr<SubTorus> recogniseSubTorus(const Topology& partition,
                                     std::span<const std::int32_t> sites);

/// Maps the members of a box to the ranks of its schedules.
struct SubTorusRanks {
  /// The order of the axes of the sub-torus's topology, which defines the ranks below.
  std::array<std::uint8_t, kMaxAxes> order{};
  /// The rank of each member; empty: its own number.
  std::vector<std::int32_t> table;
};

/// `shape` is the topology of the sub-torus, with the damage if the box is the whole of a damaged
/// partition; its axis i is axis axes[i] of the partition.
SubTorusRanks ranksInSubTorus(const SubTorus& box, const Topology& shape, const SubTorusAxes& axes);

/// "2x4x1": the extents along all axes; `+` before the cores.
std::string extentsText(const Topology& partition, const Extents& extents);
/// "(1, 3, 0)"; if nodes have cores, "(1, 3, 0, 2)".
std::string coordinatesText(const Topology& partition, const Coordinates& at);

}  // namespace torc

#endif  // TORC_SCHEDULES_SUB_TORUS_SUB_TORUS_H_
