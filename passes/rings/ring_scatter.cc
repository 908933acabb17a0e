// Ring scatter, the first half of a broadcast by scatter and allgather (van de Geijn, "On Global
// Combine Operations", 1994, on all links of a torus): the nodes that have a color's blocks are the
// root, then its line along the axis of the first phase, then the plane of the second, and so on.
// Each of them sends to every node of its ring the blocks of that node's coordinate, the farthest
// first; passes/analysis/ring_steps.h has the offsets of blocks.
//
// Blocks. Axes done before are fixed to the own coordinate, the current axis has the moving block,
// axes to come are whole. Received blocks, for the own coordinate or to be forwarded, are at their
// place in `out`. In the first phase the root sends from `in`; it has the blocks of its own
// coordinate in `out` from a copy, which no message waits for.
#include "passes/rings/ring_scatter.h"

namespace torc::passes {
void expandRingScatter(StrandSteps& steps, std::uint32_t axis) {
  const bool first_phase = !steps.progress().hasStarted();
  steps.restrictTo(steps.atRootElsewhere(axis));
  ir::OperationIndices phase_end;
  if (first_phase) {
    LineStep own;
    own.receivers = {0, 0};
    const std::uint32_t box = steps.blocks(axis, 0);
    phase_end.push_back(steps.copy(steps.region(Buffer::kOut, steps.all(), box),
                                   steps.region(Buffer::kIn, steps.all(), box), axis, own));
  }
  for (std::uint32_t k = 0; k < steps.stepCount(axis); ++k) {
    const RingStep step = steps.stepOf(ir::PlanKind::kRingScatter, axis, k);
    ir::OperationIndices step_end;
    for (const LineStep& line : step) {
      const auto send = [&](Buffer buffer, const Nodes& senders) {
        if (senders.none()) return;
        const Region sent =
            steps.region(buffer, steps.movedBy(line), steps.blocks(axis, line.sent));
        step_end.push_back(steps.send(sent, axis, line, senders));
      };
      Nodes others = line.senders;
      if (first_phase && !line.sources.none()) {
        send(Buffer::kIn, line.sources);
        // The root is at one end of the senders.
        (line.sign > 0 ? others.first : others.last) += line.sign;
      }
      send(Buffer::kOut, others);
    }
    for (const LineStep& line : step) {
      const Region received =
          steps.region(Buffer::kOut, steps.movedBy(line), steps.blocks(axis, line.received));
      step_end.push_back(steps.receive(received, axis, line, line.receivers));
    }
    steps.setAfter(std::move(step_end));
  }
  phase_end.append(steps.after().begin(), steps.after().end());
  steps.setAfter(std::move(phase_end));
  steps.restrictTo({});
}

}  // namespace torc::passes
