// Neighbours: the parts of a schedule of a neighbourhood collective, and whose block is whose.
//
// The torus is the grid of a Cartesian communicator, a mesh dimension one that is not periodic. A
// block travels one step along one axis, and what travels one way along one axis is a part of its
// own: part 2i goes up axis i, part 2i + 1 down. The blocks of a part are called by the node that
// gets them, and `out` of a node is its own block, part by part; its `in` is, of each part, the
// block of the neighbour that way. So two blocks for one neighbour, on a ring of two, are two.
//
// In memory blocks lie as MPI orders neighbours (MPI 4.1, section 8.6): dimension by dimension, the
// one that varies slowest with the rank first; in each the neighbour below before the one above.
#ifndef TORC_SCHEDULES_NEIGHBOURS_H_
#define TORC_SCHEDULES_NEIGHBOURS_H_

#include <cstdint>

#include "schedules/schedule.h"
#include "support/status.h"

namespace torc {

/// How a part travels.
struct Way {
  std::uint32_t axis = 0;
  std::int32_t sign = 1;  // 1: up, -1: down
};
inline Way wayOfPart(std::uint32_t part) {
  return {part / 2, part % 2 == 0 ? 1 : -1};
}

/// Where the block for, or from, the neighbour that way lies among those of a node.
std::uint32_t neighbourPlace(const Topology& topology, const Way& way);

/// Whether the node at `at` has a neighbour that way: at the end of a mesh dimension it has none.
bool hasNeighbour(const Topology& topology, const Coordinates& at, const Way& way);

/// The nodes that have, as an interval along the axis of `way`; false: there are none.
bool nodesWithNeighbour(const Topology& topology, const Way& way, Interval& along);

/// What a schedule of neighbours keeps beside the rules of all: its parts are as above, in one
/// segment, without scratch, on a torus that has no cores and where nothing is dead.
Status validateNeighbours(const ScheduleView& schedule);

}  // namespace torc

#endif  // TORC_SCHEDULES_NEIGHBOURS_H_
