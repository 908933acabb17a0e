// Finds broken messages by the nodes at their ends.
#include "schedules/broken_messages.h"

#include <algorithm>
#include <cstdlib>

namespace torc {
/// On the way to the link, a message has finished the axes before the link's, and none behind it.
std::optional<Ranges> sendersOver(const Topology& topology, const Shift& shift,
                                  const DeadLink& link) {
  if (shift[link.axis] == 0) return std::nullopt;
  Ranges senders = allNodes(topology);
  const auto dimensions = static_cast<std::uint32_t>(topology.dimensions());
  for (std::uint32_t axis = 0; axis < dimensions; ++axis) {
    const std::uint32_t size = topology.axes[axis].size;
    const std::int64_t from = link.from[axis];
    const std::int64_t hops = shift[axis];
    if (axis != link.axis) {
      senders[axis] = {wrap(axis < link.axis ? from - hops : from, size), 1};
    } else if (!topology.axes[axis].hasOneCable() && std::abs(hops) < size) {
      senders[axis] = {wrap(hops > 0 ? from - hops + 1 : from + 1, size),
                       static_cast<std::uint32_t>(std::abs(hops))};
    }
  }
  return senders;
}

std::vector<Ranges> sendersThrough(const Topology& topology, const Shift& shift,
                                   const Coordinates& dead) {
  std::vector<Ranges> ways;
  Ranges senders = nodeWithCores(topology, dead);
  const auto dimensions = static_cast<std::uint32_t>(topology.dimensions());
  for (std::uint32_t axis = 0; axis < dimensions; ++axis) {
    for (std::int32_t hop = 0; hop < std::abs(shift[axis]); ++hop) {
      senders[axis] = shifted(senders[axis], shift[axis] > 0 ? -1 : 1, topology.axes[axis].size);
      ways.push_back(senders);
    }
  }
  return ways;
}

std::span<const Ranges> DroppedMessages::of(const Operation& operation) {
  if ((schedule_.flags & kDropsBroken) == 0 || operation.peer == kNone || operation.hasPeerLoop())
    return {};
  const bool is_receive = receives(operation.kind);
  std::optional<std::vector<Ranges>>& nodes = ends_[2 * operation.peer + (is_receive ? 1 : 0)];
  if (nodes) return *nodes;
  const Topology& topology = schedule_.topology;
  const Shift& peer = schedule_.shifts[operation.peer];
  const Shift shift = is_receive ? opposite(peer) : peer;  // from a sender
  nodes.emplace();
  for (const DeadLink& link : topology.deadLinks()) {
    if (const std::optional<Ranges> senders = sendersOver(topology, shift, link))
      nodes->push_back(*senders);
  }
  for (const Coordinates& dead : topology.deadNodes()) {
    const std::vector<Ranges> ways = sendersThrough(topology, shift, dead);
    nodes->insert(nodes->end(), ways.begin(), ways.end());
    // Messages that a dead node would send: their receivers do not wait for them.
    nodes->push_back(nodeWithCores(topology, dead));
  }
  if (!is_receive) return *nodes;
  for (Ranges& box : *nodes)
    box = moved(box, shift, topology);
  return *nodes;
}

bool DroppedMessages::drops(const Operation& operation, const Coordinates& at) {
  return std::ranges::any_of(
      of(operation), [&](const Ranges& box) { return contains(box, schedule_.topology, at); });
}

bool isDetour(const ScheduleView& schedule, const Operation& operation) {
  return (schedule.flags & kDropsBroken) != 0 && operation.guard != kNone &&
         volume(schedule.guardRanges(operation.guard), schedule.topology) == 1;
}

}  // namespace torc
