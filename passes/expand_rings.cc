// Turns a plan into steps: the ring ("bucket") reduce-scatters and allgathers of every color, axis
// by axis ("Optimal Bucket Algorithms for Large MPI Collectives on Torus Interconnects", section
// 2.2 and Algorithm 1), the scatters of a broadcast and the gathers of a reduce. passes/rings/ has
// the steps of each. One stream per part; of a color whose rings are half-latency ones the two
// halves go together, in a stream for each way. An allgather, and a gather to the root, visit the
// axes in reverse and widen again.
//
// Order. A step depends on the step before it in its stream, the first step of a phase on the last
// steps of all streams in the phase before. So sends and receives of step s wait only for earlier
// steps: no deadlock, even without buffering.
//
// Every receive has a frame (or its place in `out`, in an allgather) of its own, and a separate
// reduction; every frame is alone in its slot. coalesce, infer-dependences and allocate-scratch
// improve on that.
#include "passes/expand_rings.h"

#include "ir/make_error.h"
#include "ir/step_builder.h"
#include "passes/analysis/exact_dependences.h"
#include "passes/analysis/limits.h"
#include "passes/analysis/plan_axes.h"
#include "passes/analysis/plan_expander.h"
#include "passes/analysis/strands.h"
#include "passes/detours/ring_detours.h"
#include "passes/rings/ring_allgather.h"
#include "passes/rings/ring_gather.h"
#include "passes/rings/ring_reduce_scatter.h"
#include "passes/rings/ring_scatter.h"

namespace torc::passes {
namespace {

class RingExpansion {
 public:
  explicit RingExpansion(const ir::Program& program)
      : program_(program), topology_(program.schedule.topology), builder_(program.schedule) {}

  llvm::Expected<Schedule> run();

 private:
  llvm::Error expandPhase(llvm::ArrayRef<ir::PlanOperation> rings);
  llvm::Error checkSize(const StrandSteps& steps, std::uint32_t axis);

  const ir::Program& program_;
  const Topology& topology_;
  ir::StepBuilder builder_;
  std::vector<Strand> strands_;
  std::uint32_t phases_ = 0;        // so far
  ir::OperationIndices phase_end_;  // the last steps of the phase before
};

llvm::Expected<Schedule> RingExpansion::run() {
  llvm::Expected<std::vector<Strand>> strands = makeStrands(program_, builder_);
  if (!strands) return strands.takeError();
  strands_ = std::move(*strands);
  llvm::Expected<std::vector<PlanPhase>> phases = phasesOf(program_);
  if (!phases) return phases.takeError();
  for (const PlanPhase& rings : *phases) {
    if (llvm::Error error = expandPhase(rings)) return error;
  }
  for (Strand& strand : strands_) {
    if (llvm::Error error = strand.progress.checkDone()) return error;
    // Nothing moves if there is one node.
    if (!strand.progress.hasStarted()) StrandSteps(builder_, strand).copyOwnBlocks();
  }
  if (!topology_.isBroken()) return builder_.take();
  Schedule rings = builder_.take();
  for (Axis& axis : rings.topology.axes)
    axis.detours = 0;
  return withDependences(addDetours(std::move(rings)));
}

/// Expands the rings of one phase, strand by strand.
llvm::Error RingExpansion::expandPhase(llvm::ArrayRef<ir::PlanOperation> rings) {
  builder_.setPhase(phases_++);
  ir::OperationIndices phase_end;
  for (Strand& strand : strands_) {
    StrandSteps steps(builder_, strand);
    steps.setAfter(phase_end_);
    bool any = false;
    for (const ir::PlanOperation& ring : rings) {
      if (ring.color != strand.color) continue;
      if (llvm::Error error = strand.progress.check(ring)) return error;
      if (llvm::Error error = checkSize(steps, ring.axis)) return error;
      if (ring.kind == ir::PlanKind::kRingReduceScatter) {
        expandRingReduceScatter(steps, ring.axis);
      } else if (ring.kind == ir::PlanKind::kRingScatter) {
        expandRingScatter(steps, ring.axis);
      } else if (ring.kind == ir::PlanKind::kRingGather) {
        expandRingGather(steps, ring.axis);
      } else {
        expandRingAllgather(steps, ring.axis);
      }
      strand.progress.finish(ring);
      any = true;
    }
    if (any) phase_end.append(steps.after().begin(), steps.after().end());
  }
  phase_end_ = std::move(phase_end);
  return llvm::Error::success();
}

llvm::Error RingExpansion::checkSize(const StrandSteps& steps, std::uint32_t axis) {
  // A step of a part on a ring is a send, a receive and a reduction; on a line there are up to
  // three of each, on a half-latency ring two of each, and two copies.
  const bool both_ways = steps.strand().isHalfLatency() || topology_.isLine(axis);
  const std::uint64_t operations = std::uint64_t{both_ways ? 9u : 3u} * steps.stepCount(axis) + 1;
  const Schedule& schedule = builder_.schedule();
  return checkLimits(schedule.operations.size() + operations,
                     schedule.dependences.size() + 9 * steps.after().size() + 4 * operations);
}

class ExpandRings final : public PlanExpander {
 public:
  ExpandRings()
      : PlanExpander(
            "expand-rings",
            "turns ring reduce-scatters, scatters, allgathers and gathers into step operations") {}

 private:
  llvm::Error checkServes(const ir::Program& program) const override {
    const Topology& topology = program.schedule.topology;
    if (const CollectiveRow& row = rowOf(program.schedule.collective); row.isRooted()) {
      if (!row.inWhole() || !row.outWhole()) {
        return makeError(
            "rings serve a broadcast, a reduce, and collectives in which all ranks do alike; " +
            llvm::Twine(row.name) + " has a root");
      }
      for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
        if (topology.axes[i].wraps() && !topology.isLine(i) && topology.axes[i].detours == 0)
          continue;
        return makeError("rings serve a " + llvm::Twine(row.name) + " where all axes wrap; " +
                         llvm::Twine(topology.axes[i].name) + " does not");
      }
    }
    if (rowOf(program.schedule.collective).blocks != BlockSpace::kNode) {
      return makeError("rings serve collectives whose blocks have one owner; " +
                       llvm::Twine(rowOf(program.schedule.collective).name) + " has pairs");
    }
    return llvm::Error::success();
  }
  llvm::Expected<Schedule> expand(const ir::Program& program) const override {
    return RingExpansion(program).run();
  }
};

}  // namespace

std::unique_ptr<Pass> makePass(const ExpandRingsPass&) {
  return std::make_unique<ExpandRings>();
}

}  // namespace torc::passes
