// Sub-tori: whether a set of ranks, by where they lie, is a line, a plane or another box of a
// partition, and how they lie in it. A schedule serves the ranks of such a box whatever their
// order.
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

/// A box of a partition and its members, numbered from 0 as they were given.
///
/// *Positions* are coordinates within the box: along each axis steps up from `start`, modulo the
/// size of the axis. Where the box has a whole ring, or all the cores of a node, it may begin
/// anywhere: there it begins where member 0 lies. (But the whole of a damaged partition begins at
/// 0, as its schedules do.)
struct SubTorus {
  Coordinates start{};
  Extents extents{};

  /// Whether the members lie by an order of axes: one position after the other, dead nodes left
  /// out.
  bool ordered = false;
  std::uint32_t order_count = 0;               // axes with an extent over 1
  std::array<std::uint8_t, kMaxAxes> order{};  // where ordered: they, from fastest to slowest
  /// Where not: each member's position as a number, the first axis fastest.
  std::vector<std::int32_t> table;

  std::uint64_t positions() const;
  /// Where a member is not by order: its position.
  Coordinates positionOf(std::size_t member) const;

  bool operator==(const SubTorus&) const = default;
};

/// The whole partition, its ranks in its own order, without a list of them.
SubTorus wholePartition(const Topology& partition);

/// Recognises members by the sites (see Topology) at which they lie. A single node is a box, too.
/// The whole of a damaged partition is its live nodes.
///
/// Errors: kUnsupported, and what hinders: `7 ranks do not fill the box 2x4x1 from (0, 0, 0): (1,
/// 3, 0) is missing`, `the box 2x4x1 from (0, 0, 0) contains the dead link (0, 1, 0)Y`. Two members
/// at one position, or one at a dead node or outside the partition: kInvalidArgument. Time and
/// memory are in proportion to the number of members.
StatusOr<SubTorus> recogniseSubTorus(const Topology& partition,
                                     std::span<const std::int32_t> sites);

/// "2x4x1": the extents along all axes; `+` before the cores.
std::string extentsText(const Topology& partition, const Extents& extents);
/// "(1, 3, 0)", with the core, where nodes have them: "(1, 3, 0, 2)".
std::string coordinatesText(const Topology& partition, const Coordinates& at);

}  // namespace torc

#endif  // TORC_SCHEDULES_SUB_TORUS_SUB_TORUS_H_
