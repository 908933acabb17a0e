#include "compiler/algorithms/trees/tree_program.h"

namespace torc {
namespace {

Schedule header(const CollectiveSpec& spec, std::uint32_t parts) {
  Schedule schedule;
  schedule.collective = spec.collective;
  schedule.topology = spec.topology;
  schedule.name = rowOf(spec.collective).name;
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

llvm::SmallVector<Piece, 4> TreeProgram::pieces(std::uint32_t part, const Blocks& blocks) {
  llvm::SmallVector<Piece, 4> list;
  for (const Box& box : blocks)
    list.push_back({part, 1, builder_.box(box)});
  return list;
}

Region TreeProgram::region(Buffer buffer, std::uint32_t part, const Blocks& blocks) {
  return builder_.region(buffer, pieces(part, blocks));
}

Region TreeProgram::scratch(std::uint32_t part, const Blocks& blocks, std::uint32_t slot) {
  return scratch(part, blocks, slot, blocks);
}

Region TreeProgram::scratch(std::uint32_t part, const Blocks& blocks, std::uint32_t slot,
                            const Blocks& frame_blocks) {
  const Region whole = builder_.region(Buffer::kScratch, pieces(part, frame_blocks), 0);
  const auto [entry, is_new] = frames_.try_emplace({whole.box, whole.pieces, part, slot}, 0);
  if (is_new) entry->second = builder_.addFrame(pieces(part, frame_blocks), slot);
  return builder_.region(Buffer::kScratch, pieces(part, blocks), entry->second);
}

Operation TreeProgram::operation(OperationKind kind, std::uint32_t node, const Region& region) {
  Operation operation;
  operation.kind = kind;
  operation.phase = phase_;
  // One stream per part.
  operation.stream = region.pieces == 0 ? region.part : builder_.schedule().pieces[region.box].part;
  operation.guard = builder_.box(boxAt(node));
  return operation;
}

Operation TreeProgram::message(OperationKind kind, std::uint32_t node, const Region& region,
                               const LiveArc& arc, int sign) {
  Operation message = operation(kind, node, region);
  Shift peer{};
  peer[arc.axis] = sign * arc.sign;
  message.peer = builder_.shift(peer);
  return message;
}

std::uint32_t TreeProgram::send(const Region& a, const LiveArc& arc,
                                llvm::ArrayRef<std::uint32_t> after) {
  Operation send = message(OperationKind::kSend, arc.from, a, arc, 1);
  send.a = a;
  return builder_.addOperation(send, after);
}

std::uint32_t TreeProgram::receive(const Region& dst, const LiveArc& arc,
                                   llvm::ArrayRef<std::uint32_t> after) {
  Operation receive = message(OperationKind::kRecv, arc.to, dst, arc, -1);
  receive.dst = dst;
  return builder_.addOperation(receive, after);
}

std::uint32_t TreeProgram::receiveAndReduce(const Region& dst, const Region& a,
                                            const Region& staging, const LiveArc& arc,
                                            llvm::ArrayRef<std::uint32_t> after) {
  Operation receive = message(OperationKind::kRecvReduce, arc.to, dst, arc, -1);
  receive.dst = dst;
  receive.a = a;
  receive.b = staging;
  return builder_.addOperation(receive, after);
}

std::uint32_t TreeProgram::reduce(std::uint32_t node, const Region& dst, const Region& a,
                                  const Region& b, llvm::ArrayRef<std::uint32_t> after) {
  Operation reduce = operation(OperationKind::kReduce, node, dst);
  reduce.dst = dst;
  reduce.a = a;
  reduce.b = b;
  return builder_.addOperation(reduce, after);
}

std::uint32_t TreeProgram::copy(std::uint32_t node, const Region& dst, const Region& a) {
  Operation copy = operation(OperationKind::kCopy, node, dst);
  copy.dst = dst;
  copy.a = a;
  return builder_.addOperation(copy, {});
}

}  // namespace torc
