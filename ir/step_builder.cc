// Appends steps to a schedule.
#include "ir/step_builder.h"

namespace torc::ir {

Schedule scheduleHeader(Collective collective, const Topology& topology, std::uint32_t colors) {
  Schedule schedule;
  schedule.collective = collective;
  schedule.topology = topology;
  schedule.name = rowOf(collective).name;
  Color color;
  color.axis_count = topology.axis_count;
  for (std::uint32_t axis = 0; axis < color.axis_count; ++axis)
    color.order[axis] = static_cast<std::uint8_t>(axis);
  schedule.colors.assign(colors, color);
  return schedule;
}

Shift hop(std::uint32_t axis, int sign) {
  Shift shift{};
  shift[axis] = sign;
  return shift;
}

std::uint32_t StepBuilder::add(Operation operation, const StepPlace& place, const Regions& regions,
                               After after) {
  operation.phase = phase_;
  operation.stream = place.stream;
  operation.guard = place.guard;
  operation.dst = regions.dst;
  operation.a = regions.a;
  operation.b = regions.b;
  return addOperation(operation, after);
}

std::uint32_t StepBuilder::message(OperationKind kind, const StepPlace& place, const Shift& moves,
                                   const Regions& regions, After after) {
  const std::uint32_t peer = shift(receives(kind) ? opposite(moves) : moves);
  return add({.kind = kind, .peer = peer}, place, regions, after);
}

std::uint32_t StepBuilder::message(OperationKind kind, const StepPlace& place,
                                   const PeerLoop& peers, const Regions& regions, After after) {
  return add({.kind = kind, .peer_kind = PeerKind::kLoop, .peer = peerLoop(peers)}, place, regions,
             after);
}

}  // namespace torc::ir
