#include "passes/detours/detour_builder.h"

namespace torc::passes {

Schedule droppingBroken(Schedule steps) {
  steps.flags = (steps.flags | kDropsBroken) & ~std::uint32_t{kConflictFreePhases};
  return steps;
}

DetourBuilder::DetourBuilder(const Schedule& steps) : StepBuilder(steps) {
  Schedule& built = schedule();
  built.streams = steps.streams;
  built.frames = steps.frames;
  built.slot_count = steps.slot_count;
  built.pieces = steps.pieces;
  for (const Box& some : steps.boxes)
    box(some);
  for (const BoxPair& some : steps.pairs)
    pair(steps.boxes[some.source], steps.boxes[some.destination]);
  for (const Shift& some : steps.shifts)
    shift(some);
}

ir::StepPlace DetourBuilder::at(std::uint32_t stream, const Coordinates& node) {
  const Topology& topology = schedule().topology;
  Box only;
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    if (topology.axes[axis].size > 1) only[axis] = Interval::absolute(node[axis]);
  }
  const auto [entry, is_new] = streams_.try_emplace(stream, 0);
  if (is_new) entry->second = addStream(Stream(schedule().streams[stream]));
  return {entry->second, box(only)};
}

Region DetourBuilder::newFrame(llvm::ArrayRef<Piece> pieces) {
  return region(Buffer::kScratch, pieces, addFrame(pieces, schedule().slot_count));
}

}  // namespace torc::passes
