// Tracks a color through its plan.
#include "passes/analysis/plan_progress.h"

#include "ir/make_error.h"
#include "passes/analysis/plan_axes.h"
#include "passes/manager/pass.h"

namespace torc::passes {
PlanProgress::PlanProgress(const Schedule& schedule, std::uint32_t color)
    : schedule_(schedule), color_(color), fixed_(rowOf(schedule.collective).inWhole() ? 0 : 0xff) {}

bool PlanProgress::isLastToReduce(std::uint32_t axis) const {
  const Topology& topology = schedule_.topology;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (i != axis && topology.axes[i].size > 1 && !isFixed(i)) return false;
  }
  return true;
}

std::uint32_t PlanProgress::lastDivided() const {
  for (const std::uint32_t axis : llvm::reverse(divisions_)) {
    if (isFixed(axis)) return axis;
  }
  return kNone;
}

llvm::Error PlanProgress::check(const ir::PlanOperation& ring) const {
  const CollectiveRow& collective = rowOf(schedule_.collective);
  const char* fault = nullptr;
  if (ring.divides()) {
    const bool reduces = ring.reduceScatters();
    if (reduces && !collective.reduces()) fault = "the collective reduces nothing";
    if (!reduces && !collective.isRooted()) fault = "the collective has no root";
    if (!reduces && collective.reduces()) fault = "the collective reduces";
    if (isDivided(ring.axis)) {
      fault = reduces ? "it has been reduced there before" : "it has been scattered there before";
    }
  } else {
    const bool to_root = ring.kind == ir::PlanKind::kRingGather;
    if (!isFixed(ring.axis)) {
      fault = "it has been gathered there before, or never reduced or scattered";
    } else if (to_root && lastDivided() != ring.axis) {
      fault = "gathers to the root visit the axes in reverse";
    }
    if (!collective.outWhole()) fault = "the collective gathers nothing";
    const bool root_alone = collective.isRooted() && collective.reduces();
    if (to_root && !root_alone) fault = "the result is not the root's alone";
    if (!to_root && root_alone) fault = "the result is the root's alone";
  }
  if (!fault) return llvm::Error::success();
  return makeError(operationText(schedule_.topology, ring) + ": " + fault);
}

void PlanProgress::finish(const ir::PlanOperation& ring) {
  const auto bit = static_cast<std::uint8_t>(1u << ring.axis);
  started_ = true;
  if (ring.divides()) {
    fixed_ |= bit;
    divisions_.push_back(ring.axis);
  } else {
    fixed_ &= ~bit;
  }
}

llvm::Error PlanProgress::checkDone() const {
  const CollectiveRow& collective = rowOf(schedule_.collective);
  for (std::uint32_t i = 0; i < schedule_.topology.axis_count; ++i) {
    const Axis& axis = schedule_.topology.axes[i];
    if (axis.size == 1) continue;
    const char* fault = nullptr;
    if (collective.outWhole() && isFixed(i)) fault = "gathered";
    if (collective.inWhole() && !isDivided(i)) {
      fault = collective.reduces() ? "reduced" : "scattered";
    }
    if (!fault) continue;
    return makeError("the plan ends before color " + llvm::Twine(color_) + " is " + fault + " on " +
                     llvm::Twine(axis.name));
  }
  return llvm::Error::success();
}

}  // namespace torc::passes
