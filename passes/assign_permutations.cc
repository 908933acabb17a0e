// Gives the colors of a plan non-conflicting permutations of the axes: in phase i color j runs its
// rings along axis pi_j(i) = (i + j) mod N of the N network axes, so that in no phase two colors
// use the same links ("Optimal Bucket Algorithms for Large MPI Collectives on Torus Interconnects",
// section 4). The cores of a node come first in every color: data is reduced inside a node before
// it goes out. Axes of size 1 come last; they move nothing.
//
// A color's i-th reduce-scatter is put on the i-th axis of its order; its allgathers visit the axes
// in reverse. Where the rotation does keep the colors apart (it does unless there are more colors
// than axes, or cores, which all colors visit first) the schedule promises so, and the verifier
// holds it to the promise.
#include "passes/assign_permutations.h"

#include <algorithm>

#include "passes/plan_axes.h"

namespace torc {
namespace {

using AxisOrder = std::array<std::uint8_t, kMaxAxes>;

/// The axis order of color `color`.
AxisOrder rotatedOrder(const Topology& topology, std::uint32_t color) {
  AxisOrder order{};
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const Axis& axis = topology.axes[i];
    if (axis.kind == AxisKind::kCore && axis.size > 1) order[count++] = i;
  }
  const auto axes = networkAxes(topology);
  for (std::size_t i = 0; i < axes.size(); ++i)
    order[count++] = axes[(i + color) % axes.size()];
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (topology.axes[i].size == 1) order[count++] = i;
  }
  return order;
}

/// Puts the ring operations of `color` in `plan` on the axes of its order, of which `moving_axes`
/// have more than one node.
llvm::Error moveRings(std::vector<PlanOperation>& plan, std::uint32_t color, const Color& to,
                      std::size_t moving_axes) {
  for (const PlanKind kind : {PlanKind::kRingReduceScatter, PlanKind::kRingAllgather}) {
    llvm::SmallVector<PlanOperation*, kMaxAxes> rings;
    for (PlanOperation& operation : plan) {
      if (operation.kind == kind && operation.color == color) rings.push_back(&operation);
    }
    if (rings.empty()) continue;
    // Axes of size 1 come last in the order, so a plan may leave them out.
    if (rings.size() != to.axis_count && rings.size() != moving_axes) {
      return passError("color " + llvm::Twine(color) + " has " + llvm::Twine(rings.size()) + " " +
                       llvm::StringRef(name(kind)) + " operations for " +
                       llvm::Twine(to.axis_count) + " axes");
    }
    if (kind == PlanKind::kRingAllgather) std::reverse(rings.begin(), rings.end());
    for (std::size_t i = 0; i < rings.size(); ++i)
      rings[i]->axis = to.order[i];
  }
  return llvm::Error::success();
}

class AssignPermutations final : public Pass {
 public:
  AssignPermutations()
      : Pass("assign-permutations", "gives colors axis orders that use different links in a phase",
             PassLevel::kPlan) {}

  llvm::Expected<PassResult> run(Program& program) override {
    Schedule& schedule = program.schedule;
    const std::vector<Color> old_colors = schedule.colors;
    const std::vector<PlanOperation> old_plan = program.plan;
    const std::uint32_t old_flags = schedule.flags;

    const auto& axes = schedule.topology.axes;
    const auto moving_axes = static_cast<std::size_t>(
        std::count_if(axes.begin(), axes.begin() + schedule.topology.axis_count,
                      [](const Axis& axis) { return axis.size > 1; }));
    for (std::uint32_t i = 0; i < schedule.colors.size(); ++i) {
      schedule.colors[i].order = rotatedOrder(schedule.topology, i);
      if (llvm::Error error = moveRings(program.plan, i, schedule.colors[i], moving_axes)) {
        return error;
      }
    }
    if (isConflictFree(schedule.topology, program.plan)) {
      schedule.flags |= kConflictFreePhases;
    } else {
      schedule.flags &= ~kConflictFreePhases;
    }
    return changed(schedule.colors != old_colors || program.plan != old_plan ||
                   schedule.flags != old_flags);
  }
};

}  // namespace

std::unique_ptr<Pass> createAssignPermutationsPass() {
  return std::make_unique<AssignPermutations>();
}

}  // namespace torc
