// Ring allgather ("Optimal Bucket Algorithms for Large MPI Collectives on Torus Interconnects",
// section 2.2): in every step a node forwards the block received in the step before.
// passes/analysis/ring_steps.h has the offsets of blocks.
//
// Blocks. Axes still to come are fixed to the own coordinate, the current axis has the moving
// block, axes done before are whole. Received blocks are at their place in `out`; in the first step
// of all the own block leaves from `in`, without waiting for its copy in `out`.
#include "passes/rings/ring_allgather.h"

namespace torc::passes {

void expandRingAllgather(StrandSteps& steps, std::uint32_t axis) {
  const bool first_phase = !steps.progress().hasStarted();
  for (std::uint32_t k = 0; k < steps.stepCount(axis); ++k) {
    const RingStep step = steps.stepOf(ir::PlanKind::kRingAllgather, axis, k);
    const bool first_of_all = first_phase && k == 0;
    ir::OperationIndices step_end;
    for (const LineStep& line : step) {
      const Buffer buffer = first_of_all ? Buffer::kIn : Buffer::kOut;
      const Region sent = steps.region(buffer, steps.movedBy(line), steps.blocks(axis, line.sent));
      step_end.push_back(steps.send(sent, axis, line, line.senders));
    }
    for (const LineStep& line : step) {
      const Region received =
          steps.region(Buffer::kOut, steps.movedBy(line), steps.blocks(axis, line.received));
      step_end.push_back(steps.receive(received, axis, line, line.receivers));
    }
    if (first_of_all) step_end.push_back(steps.copyOwnBlocks());
    steps.setAfter(std::move(step_end));
  }
}

}  // namespace torc::passes
