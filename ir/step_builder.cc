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

Operation StepBuilder::operation(OperationKind kind, const StepPlace& place) const {
  Operation operation;
  operation.kind = kind;
  operation.phase = phase_;
  operation.stream = place.stream;
  operation.guard = place.guard;
  return operation;
}

Operation StepBuilder::message(OperationKind kind, const StepPlace& place, const Shift& moves) {
  Operation message = operation(kind, place);
  message.peer = shift(receives(kind) ? opposite(moves) : moves);
  return message;
}

std::uint32_t StepBuilder::send(const StepPlace& place, const Region& a, const Shift& moves,
                                llvm::ArrayRef<std::uint32_t> after) {
  Operation send = message(OperationKind::kSend, place, moves);
  send.a = a;
  return addOperation(send, after);
}

std::uint32_t StepBuilder::receive(const StepPlace& place, const Region& dst, const Shift& moves,
                                   llvm::ArrayRef<std::uint32_t> after) {
  Operation receive = message(OperationKind::kRecv, place, moves);
  receive.dst = dst;
  return addOperation(receive, after);
}

Operation StepBuilder::message(OperationKind kind, const StepPlace& place, const PeerLoop& moves) {
  Operation message = operation(kind, place);
  message.peer_kind = PeerKind::kLoop;
  message.peer = peerLoop(moves);
  return message;
}

std::uint32_t StepBuilder::send(const StepPlace& place, const Region& a, const PeerLoop& peers,
                                llvm::ArrayRef<std::uint32_t> after) {
  Operation send = message(OperationKind::kSend, place, peers);
  send.a = a;
  return addOperation(send, after);
}

std::uint32_t StepBuilder::receive(const StepPlace& place, const Region& dst, const PeerLoop& peers,
                                   llvm::ArrayRef<std::uint32_t> after) {
  Operation receive = message(OperationKind::kRecv, place, peers);
  receive.dst = dst;
  return addOperation(receive, after);
}

std::uint32_t StepBuilder::receiveAndReduce(const StepPlace& place, const Region& dst,
                                            const Region& a, const Region& staging,
                                            const Shift& moves,
                                            llvm::ArrayRef<std::uint32_t> after) {
  Operation receive = message(OperationKind::kRecvReduce, place, moves);
  receive.dst = dst;
  receive.a = a;
  receive.b = staging;
  return addOperation(receive, after);
}

std::uint32_t StepBuilder::notify(const StepPlace& place, const Shift& moves,
                                  llvm::ArrayRef<std::uint32_t> after) {
  return addOperation(message(OperationKind::kNotify, place, moves), after);
}

std::uint32_t StepBuilder::await(const StepPlace& place, const Shift& moves,
                                 llvm::ArrayRef<std::uint32_t> after) {
  return addOperation(message(OperationKind::kAwait, place, moves), after);
}

std::uint32_t StepBuilder::reduce(const StepPlace& place, const Region& dst, const Region& a,
                                  const Region& b, llvm::ArrayRef<std::uint32_t> after) {
  Operation reduce = operation(OperationKind::kReduce, place);
  reduce.dst = dst;
  reduce.a = a;
  reduce.b = b;
  return addOperation(reduce, after);
}

std::uint32_t StepBuilder::copy(const StepPlace& place, const Region& dst, const Region& a,
                                llvm::ArrayRef<std::uint32_t> after) {
  Operation copy = operation(OperationKind::kCopy, place);
  copy.dst = dst;
  copy.a = a;
  return addOperation(copy, after);
}

}  // namespace torc::ir
