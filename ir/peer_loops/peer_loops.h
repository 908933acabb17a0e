// Loops over peers (schedules/schedule.h) as a whole: their blocks, their load, and their messages
// one by one. So a proof examines one operation, however many peers it has.
#ifndef TORC_IR_PEER_LOOPS_PEER_LOOPS_H_
#define TORC_IR_PEER_LOOPS_PEER_LOOPS_H_

#include <cstdint>
#include <vector>

#include "ir/node_classes.h"
#include "schedules/schedule.h"

namespace torc::ir {

/// Messages over the busiest link of an axis in each direction, if every node sends one to each
/// peer of a loop: along one axis after the other, on a ring in the direction of the shift, on a
/// line between the two coordinates.
struct PeerLoopLoad {
  std::uint64_t up = 0, down = 0;
};
PeerLoopLoad loadOf(const Topology& topology, const PeerLoop& peers, std::uint32_t axis);

/// Hops of a message of a loop from its sender along each axis: on rings in the direction of the
/// loop's shift, on lines from the one coordinate to the other.
Shift wayOf(const Topology& topology, const PeerLoop& peers, const Coordinates& from,
            const Coordinates& to);

/// Whether some operation of `schedule` has a loop over peers.
bool hasPeerLoops(const ScheduleView& schedule);
/// Whether some loop over peers goes along an axis on which nodes differ: then its messages are
/// examined one by one.
bool differAlongPeerLoops(const ScheduleView& schedule, const NodeClasses& classes);

/// `schedule` in which each operation with a loop over peers has as its regions the blocks that all
/// its messages name together, relative to the node. Operations keep their numbers, their guards
/// and their loops. If a message has several blocks along an axis from the peer on, the blocks read
/// may be more than named: also those of the peers and the node itself.
Schedule foldPeerLoops(const ScheduleView& schedule);

struct UnrolledSchedule {
  Schedule schedule;
  std::vector<std::uint32_t> source;  // by operation: its original
};
/// `schedule` with every message of a loop over peers as an operation of its own; on a line, two
/// behind guards.
UnrolledSchedule unrollPeerLoops(const ScheduleView& schedule);

/// Number of operations that unrollPeerLoops makes.
double unrolledOperations(const ScheduleView& schedule);

}  // namespace torc::ir

#endif  // TORC_IR_FAMILIES_FAMILIES_H_
