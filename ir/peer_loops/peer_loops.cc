// Sums over the messages of loops over peers.
#include "ir/peer_loops/peer_loops.h"

#include <algorithm>
#include <vector>

namespace torc::ir {

Shift wayOf(const Topology& topology, const PeerLoop& peers, const Coordinates& from,
            const Coordinates& to) {
  Shift way{};
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    const std::int64_t distance = std::int64_t{to[axis]} - from[axis];
    const std::int64_t along =
        topology.axes[axis].wraps()
            ? peers.first[axis] +
                  std::int64_t{wrap(distance - peers.first[axis], topology.axes[axis].size)}
            : distance;
    way[axis] = static_cast<std::int32_t>(along);
  }
  return way;
}

PeerLoopLoad loadOf(const Topology& topology, const PeerLoop& peers, std::uint32_t axis) {
  const Axis& it = topology.axes[axis];
  const std::int64_t first = peers.first[axis];
  const std::int64_t end = first + peers.count[axis];
  PeerLoopLoad load;
  if (it.wraps()) {
    // Every link carries as much as every other: the data sent by a node, times the hops.
    for (std::int64_t shift = first; shift < end; ++shift) {
      (it.linkSign(static_cast<std::int32_t>(shift)) > 0 ? load.up : load.down) +=
          static_cast<std::uint64_t>(std::abs(shift));
    }
  } else {
    // Messages over a shift from the lower coordinates go up, the others down. The loads of links
    // follow from the ranges of the messages' begins and ends.
    std::vector<std::int64_t> up(it.size + 1, 0), down(it.size + 1, 0);
    const auto count = [](std::vector<std::int64_t>& changes, std::uint32_t from, std::uint32_t to,
                          std::int64_t many) {
      changes[from] += many;
      changes[to] -= many;
    };
    for (std::int64_t shift = first; shift < end; ++shift) {
      const std::uint32_t rise = wrap(shift, it.size);
      if (rise == 0) continue;
      count(up, 0, it.size - rise, 1);
      count(up, rise, it.size, -1);
      count(down, 0, rise, 1);
      count(down, it.size - rise, it.size, -1);
    }
    const auto most = [](const std::vector<std::int64_t>& changes) {
      std::int64_t beginning = 0, sum = 0, largest = 0;
      for (const std::int64_t change : changes) {
        beginning += change;
        largest = std::max(largest, sum += beginning);
      }
      return static_cast<std::uint64_t>(largest);
    };
    load = {most(up), most(down)};
  }
  for (std::uint32_t other = 0; other < topology.axis_count; ++other) {
    if (other == axis) continue;
    load.up *= peers.count[other];
    load.down *= peers.count[other];
  }
  return load;
}

bool hasPeerLoops(const ScheduleView& schedule) {
  return std::ranges::any_of(schedule.operations,
                             [](const Operation& operation) { return operation.hasPeerLoop(); });
}

bool differAlongPeerLoops(const ScheduleView& schedule, const NodeClasses& classes) {
  return std::ranges::any_of(schedule.peer_loops, [&](const PeerLoop& peers) {
    for (std::uint32_t axis = 0; axis < schedule.topology.axis_count; ++axis) {
      if (peers.moves(axis) && !classes.collapsed(axis)) return true;
    }
    return false;
  });
}

double unrolledOperations(const ScheduleView& schedule) {
  double count = 0;
  for (const Operation& operation : schedule.operations) {
    double copies = 1;
    if (operation.hasPeerLoop()) {
      const PeerLoop& peers = schedule.peer_loops[operation.peer];
      copies = static_cast<double>(peers.size());
      for (std::uint32_t axis = 0; axis < schedule.topology.axis_count; ++axis) {
        if (peers.moves(axis) && !schedule.topology.axes[axis].wraps()) copies *= 2;
      }
    }
    count += copies;
  }
  return count;
}

}  // namespace torc::ir
