#include "compiler/algorithms/tree_program.h"

namespace torc {
namespace {

Schedule header(const CollectiveSpec& spec, std::uint32_t parts) {
  Schedule schedule;
  schedule.collective = spec.collective;
  schedule.topology = spec.topology;
  schedule.name = traits(spec.collective).name;
  Color color;
  color.axis_count = spec.topology.axis_count;
  for (std::uint32_t i = 0; i < color.axis_count; ++i)
    color.order[i] = static_cast<std::uint8_t>(i);
  schedule.colors.assign(parts, color);
  return schedule;
}

}  // namespace

TreeProgram::TreeProgram(const CollectiveSpec& spec, std::uint32_t parts)
    : topology_(spec.topology), builder_(header(spec, parts)) {
  for (std::uint32_t part = 0; part < parts; ++part)
    builder_.addStream({part, 0});
}

Box TreeProgram::boxAt(std::uint32_t node) const {
  const Coordinates at = topology_.coordinatesOf(static_cast<std::int32_t>(node));
  Box box;
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
    if (topology_.axes[axis].size > 1) box[axis] = Interval::absolute(at[axis]);
  }
  return box;
}

std::uint32_t TreeProgram::blockOf(std::uint32_t node) {
  return builder_.box(boxAt(node));
}

Region TreeProgram::scratch(std::uint32_t part, std::uint32_t box, std::uint32_t slot) {
  return scratch(part, box, slot, box);
}

Region TreeProgram::scratch(std::uint32_t part, std::uint32_t box, std::uint32_t slot,
                            std::uint32_t frame_box) {
  const auto [entry, is_new] = frames_.try_emplace({part, frame_box, slot}, 0);
  if (is_new) entry->second = builder_.addFrame({part, frame_box, slot, 0});
  return {Buffer::kScratch, {}, part, box, entry->second};
}

Operation TreeProgram::operation(OperationKind kind, std::uint32_t node, std::uint32_t part) {
  Operation operation;
  operation.kind = kind;
  operation.phase = phase_;
  operation.stream = part;
  operation.guard = builder_.box(boxAt(node));
  return operation;
}

Operation TreeProgram::message(OperationKind kind, std::uint32_t node, std::uint32_t part,
                               const LiveArc& arc, int sign) {
  Operation message = operation(kind, node, part);
  Shift peer{};
  peer[arc.axis] = sign * arc.sign;
  message.peer = builder_.shift(peer);
  return message;
}

std::uint32_t TreeProgram::send(const Region& a, const LiveArc& arc,
                                llvm::ArrayRef<std::uint32_t> after) {
  Operation send = message(OperationKind::kSend, arc.from, a.part, arc, 1);
  send.a = a;
  return builder_.addOperation(send, after);
}

std::uint32_t TreeProgram::receive(const Region& dst, const LiveArc& arc,
                                   llvm::ArrayRef<std::uint32_t> after) {
  Operation receive = message(OperationKind::kRecv, arc.to, dst.part, arc, -1);
  receive.dst = dst;
  return builder_.addOperation(receive, after);
}

std::uint32_t TreeProgram::receiveAndReduce(const Region& dst, const Region& a,
                                            const Region& staging, const LiveArc& arc,
                                            llvm::ArrayRef<std::uint32_t> after) {
  Operation receive = message(OperationKind::kRecvReduce, arc.to, dst.part, arc, -1);
  receive.dst = dst;
  receive.a = a;
  receive.b = staging;
  return builder_.addOperation(receive, after);
}

std::uint32_t TreeProgram::reduce(std::uint32_t node, const Region& dst, const Region& a,
                                  const Region& b, llvm::ArrayRef<std::uint32_t> after) {
  Operation reduce = operation(OperationKind::kReduce, node, dst.part);
  reduce.dst = dst;
  reduce.a = a;
  reduce.b = b;
  return builder_.addOperation(reduce, after);
}

std::uint32_t TreeProgram::copy(std::uint32_t node, const Region& dst, const Region& a) {
  Operation copy = operation(OperationKind::kCopy, node, dst.part);
  copy.dst = dst;
  copy.a = a;
  return builder_.addOperation(copy, {});
}

}  // namespace torc
