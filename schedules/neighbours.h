// Neighbours: parts and blocks of a schedule of a neighbourhood collective.
//
// The torus is the grid of a Cartesian communicator, a mesh dimension one that is not periodic. A
// block travels one step along one axis, and each way along each axis is a part: part 2i goes up
// axis i, part 2i + 1 down. A block of a part is indexed by the node that receives it. `out` of a
// node is its own block, part by part; its `in` is, for each part, the block of the neighbour that
// way. So a ring of two has two blocks for its one neighbour.
//
// In memory blocks have MPI's order of neighbours (MPI 4.1, section 8.6): dimension by dimension,
// the one that varies slowest with the rank first; in each the neighbour below before the one
// above.
#ifndef TORC_SCHEDULES_NEIGHBOURS_H_
#define TORC_SCHEDULES_NEIGHBOURS_H_

#include <cstdint>

#include "schedules/schedule.h"

namespace torc {

/// Axis and direction of a part.
struct Way {
  std::uint32_t axis = 0;
  std::int32_t sign = 1;  // 1: up, -1: down
};
inline Way wayOfPart(std::uint32_t part) {
  return {part / 2, part % 2 == 0 ? 1 : -1};
}

/// Index of the block for, or from, the neighbour that way among the blocks of a node.
std::uint32_t neighbourPlace(const Topology& topology, const Way& way);

/// Whether the node at `at` has a neighbour that way: false at the end of a mesh dimension.
bool hasNeighbour(const Topology& topology, const Coordinates& at, const Way& way);

/// The nodes that have one, as an interval along the axis of `way`; false: there are none.
bool nodesWithNeighbour(const Topology& topology, const Way& way, Interval& along);

/// Rejects a schedule of neighbours that breaks its additional rules: parts as above, one segment,
/// no scratch, a torus without cores and without damage.
void validateNeighbours(const ScheduleView& schedule);

}  // namespace torc

#endif  // TORC_SCHEDULES_NEIGHBOURS_H_
