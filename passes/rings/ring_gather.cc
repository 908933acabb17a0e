// Ring gather, the second half of a reduce by reduce-scatter and gather (van de Geijn, "On Global
// Combine Operations", 1994, on all links of a torus): a ring scatter reversed in time. The gather
// along the last axis of the reduce-scatter leaves all blocks of a ring on the plane of the root;
// the next ones on its line, and on the root. In every step a node forwards the sum received in the
// step before towards the root's coordinate, the nearest first; passes/analysis/ring_steps.h has
// the offsets of blocks.
//
// Blocks. Axes done before are whole, the current axis has the moving block, axes to come are fixed
// to the own coordinate. Received sums take the place of the reduce-scatter's sums of these blocks,
// which have left; along the last axis the root receives into `out`, and has its own blocks there
// from a copy.
#include "passes/rings/ring_gather.h"

namespace torc::passes {

void expandRingGather(StrandSteps& steps, std::uint32_t axis) {
  const bool last_phase = steps.progress().isFirstToDivide(axis);
  steps.restrictTo(steps.atRootElsewhere(axis));
  ir::OperationIndices phase_end;
  if (last_phase) {
    LineStep own;
    own.receivers = {0, 0};
    const Region result = steps.region(Buffer::kOut, steps.all(), steps.blocks(axis, 0));
    phase_end.push_back(steps.copy(result, steps.sums(steps.all(), axis, 0), axis, own));
  }
  for (std::uint32_t k = 0; k < steps.stepCount(axis); ++k) {
    const RingStep step = steps.stepOf(ir::PlanKind::kRingGather, axis, k);
    ir::OperationIndices step_end;
    for (const LineStep& line : step) {
      const Region sent = steps.sums(steps.movedBy(line), axis, line.sent);
      step_end.push_back(steps.send(sent, axis, line, line.senders));
    }
    for (const LineStep& line : step) {
      const auto receive = [&](const Region& received, const Nodes& nodes) {
        if (!nodes.none()) step_end.push_back(steps.receive(received, axis, line, nodes));
      };
      const StrandSteps::Parts parts = steps.movedBy(line);
      Nodes others = line.receivers;
      const bool reaches_root = others.first <= 0 && others.last >= 0;
      if (last_phase && reaches_root) {
        receive(steps.region(Buffer::kOut, parts, steps.blocks(axis, line.received)), {0, 0});
        // The root is the end of the receivers in the line's direction.
        (line.sign < 0 ? others.first : others.last) -= line.sign;
      }
      if (!others.none()) receive(steps.sums(parts, axis, line.received), others);
    }
    steps.setAfter(std::move(step_end));
  }
  phase_end.append(steps.after().begin(), steps.after().end());
  steps.setAfter(std::move(phase_end));
  steps.restrictTo({});
}

}  // namespace torc::passes
