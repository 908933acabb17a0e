// Loops over peers (schedules/schedule.h), seen as a whole: what they name, what they load, and
// what they are one by one. So a proof looks at one operation, however many peers it has.
#ifndef TORC_IR_PEER_LOOPS_PEER_LOOPS_H_
#define TORC_IR_PEER_LOOPS_PEER_LOOPS_H_

#include <cstdint>
#include <vector>

#include "ir/node_classes.h"
#include "schedules/schedule.h"

namespace torc::ir {

/// Whether the loop goes along an axis.
bool moves(const PeerLoop& peers, std::uint32_t axis);

/// Messages over the busiest link of an axis in each direction, when every node sends one to each
/// peer of a loop: along one axis after the other, on a ring the way round that the shift says,
/// on a line between the two coordinates.
struct PeerLoopLoad {
  std::uint64_t up = 0, down = 0;
};
PeerLoopLoad loadOf(const Topology& topology, const PeerLoop& peers, std::uint32_t axis);

/// How far a message of a loop goes from its sender along each axis: on rings the way round that
/// the loop's shift says, on lines from the one coordinate to the other.
Shift wayOf(const Topology& topology, const PeerLoop& peers, const Coordinates& from,
            const Coordinates& to);

/// Whether some operation of `schedule` has a loop over peers.
bool hasPeerLoops(const ScheduleView& schedule);
/// Whether some loop over peers goes along an axis on which nodes differ: then its messages are
/// looked at one by one.
bool differAlongPeerLoops(const ScheduleView& schedule, const NodeClasses& classes);

/// `schedule` with, as regions of every operation that has a loop over peers, the blocks that all
/// its messages name together, relative to the node. Operations keep their numbers, their guards
/// and their loops. Where a message has more than one block along an axis from the peer on, what is
/// read may be more than is named: the blocks of the peers and the node itself.
Schedule foldPeerLoops(const ScheduleView& schedule);

struct UnrolledSchedule {
  Schedule schedule;
  std::vector<std::uint32_t> source;  // by operation: that of the other schedule
};
/// `schedule` with every message of a loop over peers as an operation of its own; on a line, two
/// behind guards.
UnrolledSchedule unrollPeerLoops(const ScheduleView& schedule);

/// How many operations unrollPeerLoops makes.
double unrolledOperations(const ScheduleView& schedule);

}  // namespace torc::ir

#endif  // TORC_IR_FAMILIES_FAMILIES_H_
