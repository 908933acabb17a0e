// Makes regions, guards and messages of a strand.
#include "passes/rings/strand_steps.h"

namespace torc::passes {

std::uint32_t StrandSteps::stepCount(std::uint32_t axis) const {
  const std::uint32_t size = topology_.axes[axis].size;
  return isHalfLatencyRing(axis) ? size / 2 : size - 1;
}

RingStep StrandSteps::stepOf(ir::PlanKind kind, std::uint32_t axis, std::uint32_t step) const {
  const std::uint32_t size = topology_.axes[axis].size;
  if (kind == ir::PlanKind::kRingScatter) {
    return scatterStep(size, strand_.isHalfLatency(), strand_.direction, step);
  }
  if (kind == ir::PlanKind::kRingGather) {
    return gatherStep(size, strand_.isHalfLatency(), strand_.direction, step);
  }
  if (isHalfLatencyRing(axis)) return halfLatencyStep(kind, size, step);
  return ringStep(kind, size, topology_.isLine(axis), strand_.direction, step);
}

StrandSteps::Parts StrandSteps::movedBy(const LineStep& line) const {
  return line.half ? all().slice(line.sign > 0 ? 0 : 1, 1) : all();
}

StrandSteps::Parts StrandSteps::notMovedBy(const LineStep& line) const {
  return line.half ? all().slice(line.sign > 0 ? 1 : 0, 1) : Parts();
}

Box StrandSteps::ownBox() const {
  Box box;
  for (std::uint32_t i = 0; i < topology_.axis_count; ++i) {
    if (progress().isFixed(i) || topology_.axes[i].size == 1) box[i] = Interval::relative(0);
  }
  return box;
}

Region StrandSteps::sums(Parts parts, std::uint32_t axis, std::int32_t offset) {
  const std::uint32_t box = blocks(axis, offset);
  if (everyoneHasOut()) return region(Buffer::kOut, parts, box);
  const bool own = offset == 0 || !progress().isFirstToDivide(axis);
  std::uint32_t& frame =
      own ? strand_.own_frame : strand_.frames.try_emplace(offset, kNone).first->second;
  if (frame == kNone) frame = newFrame(all(), box);
  return region(Buffer::kScratch, parts, box, frame);
}

Box StrandSteps::atRootElsewhere(std::uint32_t axis) const {
  Box box;
  for (std::uint32_t i = 0; i < topology_.axis_count; ++i) {
    if (i != axis && topology_.axes[i].size > 1 && !progress().isFixed(i)) {
      box[i] = Interval::absolute(0);
    }
  }
  return box;
}

std::uint32_t StrandSteps::ownBlocks() {
  return builder_.box(ownBox());
}

std::uint32_t StrandSteps::blocks(std::uint32_t axis, std::int32_t offset) {
  Box box = ownBox();
  box[axis] = Interval::relative(offset);
  return builder_.box(box);
}

llvm::SmallVector<Piece, 2> StrandSteps::pieces(Parts parts, std::uint32_t box) const {
  if (parts.size() == 2 && parts[1] == parts[0] + 1) return {{parts[0], 2, box}};
  llvm::SmallVector<Piece, 2> list;
  for (const std::uint32_t part : parts)
    list.push_back({part, 1, box});
  return list;
}

std::uint32_t StrandSteps::newFrame(Parts parts, std::uint32_t box) {
  const auto slot = static_cast<std::uint32_t>(builder_.schedule().frames.size());
  return builder_.addFrame(pieces(parts, box), slot);
}

/// The stream for the direction of `line`, and a guard of the given nodes along `axis`.
ir::StepPlace StrandSteps::placeOf(std::uint32_t axis, const LineStep& line, const Nodes& nodes) {
  ir::StepPlace place;
  place.stream = strand_.first_stream + (strand_.isHalfLatency() && line.sign < 0 ? 1 : 0);
  const std::uint32_t size = topology_.axes[axis].size;
  const auto length = static_cast<std::uint32_t>(nodes.last - nodes.first + 1);
  Box guard = nodes_;
  if (length < size) {
    const std::int64_t first = std::int64_t{topology_.lineStart(axis)} + nodes.first;
    guard[axis] = Interval::absolute(static_cast<std::int32_t>(wrap(first, size)), length);
  }
  if (guard != Box{}) place.guard = builder_.box(guard);
  return place;
}

std::uint32_t StrandSteps::send(const Region& a, std::uint32_t axis, const LineStep& line,
                                const Nodes& nodes) {
  return builder_.send(placeOf(axis, line, nodes), a, ir::hop(axis, line.sign), after_);
}

std::uint32_t StrandSteps::receive(const Region& dst, std::uint32_t axis, const LineStep& line,
                                   const Nodes& nodes) {
  return builder_.receive(placeOf(axis, line, nodes), dst, ir::hop(axis, line.sign), after_);
}

std::uint32_t StrandSteps::receiveThenReduce(Parts parts, std::uint32_t box, const Region& dst,
                                             const Region& a, std::uint32_t axis,
                                             const LineStep& line, const Nodes& nodes,
                                             std::uint32_t also_after) {
  const Region staging = region(Buffer::kScratch, parts, box, newFrame(parts, box));
  if (topology_.isBroken()) {
    return builder_.receiveAndReduce(placeOf(axis, line, nodes), dst, a, staging,
                                     ir::hop(axis, line.sign), after_);
  }
  ir::OperationIndices after = {receive(staging, axis, line, nodes)};
  if (also_after != kNone) after.push_back(also_after);
  return builder_.reduce(placeOf(axis, line, nodes), dst, a, staging, after);
}

std::uint32_t StrandSteps::copy(const Region& dst, const Region& a, std::uint32_t axis,
                                const LineStep& line) {
  return builder_.copy(placeOf(axis, line, line.receivers), dst, a, after_);
}

std::uint32_t StrandSteps::copyOwnBlocks() {
  const std::uint32_t box = ownBlocks();
  ir::StepPlace place{.stream = strand_.first_stream};
  if (nodes_ != Box{}) place.guard = builder_.box(nodes_);
  return builder_.copy(place, region(Buffer::kOut, all(), box), region(Buffer::kIn, all(), box),
                       after_);
}

}  // namespace torc::passes
