#include "compiler/algorithms/damage/tree_program.h"

namespace torc::compiler {

TreeProgram::TreeProgram(const CollectiveSpec& spec, std::uint32_t parts)
    : topology_(spec.topology),
      builder_(ir::scheduleHeader(spec.collective, spec.topology, parts)) {
  for (std::uint32_t part = 0; part < parts; ++part)
    builder_.addStream({part, 0});
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

ir::StepPlace TreeProgram::placeOf(std::uint32_t node, const Region& region) {
  // One stream per part.
  const std::uint32_t part =
      region.pieces == 0 ? region.part : builder_.schedule().pieces[region.box].part;
  return {.stream = part, .guard = builder_.box(boxOf(topology_, node))};
}

std::uint32_t TreeProgram::send(const Region& a, const LiveArc& arc,
                                llvm::ArrayRef<std::uint32_t> after) {
  return builder_.send(placeOf(arc.from, a), a, ir::hop(arc.axis, arc.sign), after);
}

std::uint32_t TreeProgram::receive(const Region& dst, const LiveArc& arc,
                                   llvm::ArrayRef<std::uint32_t> after) {
  return builder_.receive(placeOf(arc.to, dst), dst, ir::hop(arc.axis, arc.sign), after);
}

std::uint32_t TreeProgram::receiveAndReduce(const Region& dst, const Region& a,
                                            const Region& staging, const LiveArc& arc,
                                            llvm::ArrayRef<std::uint32_t> after) {
  return builder_.receiveAndReduce(placeOf(arc.to, dst), dst, a, staging,
                                   ir::hop(arc.axis, arc.sign), after);
}

std::uint32_t TreeProgram::reduce(std::uint32_t node, const Region& dst, const Region& a,
                                  const Region& b, llvm::ArrayRef<std::uint32_t> after) {
  return builder_.reduce(placeOf(node, dst), dst, a, b, after);
}

std::uint32_t TreeProgram::copy(std::uint32_t node, const Region& dst, const Region& a) {
  return builder_.copy(placeOf(node, dst), dst, a, {});
}

}  // namespace torc::compiler
