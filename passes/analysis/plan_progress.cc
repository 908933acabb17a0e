// Progress of a color through its plan.
#include "passes/analysis/plan_progress.h"

#include "passes/analysis/plan_axes.h"
#include "passes/manager/pass.h"

namespace torc {
namespace {

bool reducesBlocks(const PlanOperation& ring) {
  return ring.kind == PlanKind::kRingReduceScatter;
}

}  // namespace

PlanProgress::PlanProgress(const Schedule& schedule, std::uint32_t color)
    : schedule_(schedule), color_(color), fixed_(rowOf(schedule.collective).reduces() ? 0 : 0xff) {}

bool PlanProgress::isLastToReduce(std::uint32_t axis) const {
  const Topology& topology = schedule_.topology;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (i != axis && topology.axes[i].size > 1 && !isFixed(i)) return false;
  }
  return true;
}

llvm::Error PlanProgress::check(const PlanOperation& ring) const {
  const CollectiveRow& collective = rowOf(schedule_.collective);
  const char* fault = nullptr;
  if (reducesBlocks(ring)) {
    if (!collective.reduces()) fault = "the collective reduces nothing";
    if (reduced_ >> ring.axis & 1) fault = "it has been reduced there before";
  } else {
    if (!isFixed(ring.axis)) fault = "it has been gathered there before, or never reduced";
    if (!collective.outWhole()) fault = "the collective gathers nothing";
  }
  if (!fault) return llvm::Error::success();
  return passError(operationText(schedule_.topology, ring) + ": " + fault);
}

void PlanProgress::finish(const PlanOperation& ring) {
  const auto bit = static_cast<std::uint8_t>(1u << ring.axis);
  started_ = true;
  if (reducesBlocks(ring)) {
    fixed_ |= bit;
    reduced_ |= bit;
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
    if (collective.reduces() && !(reduced_ >> i & 1)) fault = "reduced";
    if (!fault) continue;
    return passError("the plan ends before color " + llvm::Twine(color_) + " is " + fault + " on " +
                     llvm::Twine(axis.name));
  }
  return llvm::Error::success();
}

}  // namespace torc
