// Phases and axes of plans.
#include "passes/analysis/plan_axes.h"

#include <limits>
#include <utility>

#include "ir/make_error.h"
#include "passes/manager/pass.h"

namespace torc::passes {

llvm::SmallVector<std::uint32_t, kMaxAxes> networkAxes(const Topology& topology) {
  llvm::SmallVector<std::uint32_t, kMaxAxes> axes;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const Axis& axis = topology.axes[i];
    if (axis.size > 1 && axis.kind != AxisKind::kCore) axes.push_back(i);
  }
  return axes;
}

std::array<std::uint8_t, kMaxAxes> colorOrder(const Topology& topology,
                                              llvm::ArrayRef<std::uint32_t> network) {
  std::array<std::uint8_t, kMaxAxes> order{};
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const Axis& axis = topology.axes[i];
    if (axis.kind == AxisKind::kCore && axis.size > 1) order[count++] = i;
  }
  for (const std::uint32_t axis : network)
    order[count++] = axis;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (topology.axes[i].size == 1) order[count++] = i;
  }
  return order;
}

bool isConflictFree(const Topology& topology, llvm::ArrayRef<ir::PlanOperation> plan) {
  std::array<std::uint32_t, kMaxAxes> user;  // color that has the axis in this phase
  user.fill(kNone);
  for (const ir::PlanOperation& operation : plan) {
    if (operation.kind == ir::PlanKind::kPhaseBarrier) {
      user.fill(kNone);
      continue;
    }
    for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
      if ((operation.axisSet() >> axis & 1) == 0 || topology.axes[axis].size == 1) continue;
      std::uint32_t& color = user[axis];
      if (color != kNone && color != operation.color) return false;
      color = operation.color;
    }
  }
  return true;
}

llvm::Expected<std::vector<PlanPhase>> phasesOf(const ir::Program& program) {
  const Topology& topology = program.schedule.topology;
  const auto moves = [&](const ir::PlanOperation& operation) {
    for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
      if ((operation.axisSet() >> axis & 1) != 0 && topology.axes[axis].size > 1) return true;
    }
    return false;
  };
  std::vector<PlanPhase> phases;
  PlanPhase phase;
  for (std::size_t i = 0; i <= program.plan.size(); ++i) {
    if (i < program.plan.size() && program.plan[i].kind != ir::PlanKind::kPhaseBarrier) {
      if (moves(program.plan[i])) phase.push_back(program.plan[i]);
    } else if (!phase.empty()) {
      phases.push_back(std::exchange(phase, {}));
    }
  }
  // The number of a phase has 16 bits.
  if (phases.size() > std::size_t{std::numeric_limits<std::uint16_t>::max()} + 1) {
    return makeError("the plan has more than 65536 phases");
  }
  return phases;
}

llvm::Error checkExpander(const ir::Program& program, llvm::StringRef pass) {
  for (const ir::PlanOperation& operation : program.plan) {
    const llvm::StringRef expander = ir::expanderOf(operation.kind);
    if (expander.empty() || expander == pass) continue;
    return makeError("the plan has " + llvm::StringRef(name(operation.kind)) + ", which is for " +
                     expander);
  }
  return llvm::Error::success();
}

std::string operationText(const Topology& topology, const ir::PlanOperation& operation) {
  std::string text(name(operation.kind));
  text += " color " + std::to_string(operation.color) + " on ";
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    if (operation.axisSet() >> axis & 1) text += topology.axes[axis].name;
  }
  if (operation.stride > 0) {
    text += " stride " + std::to_string(operation.stride) + " on ";
    text += topology.axes[operation.axis].name;
  }
  return text;
}

}  // namespace torc::passes
