// Gives the colors of a plan their permutations of the axes, and reorders their rings accordingly.
//
// orders=rotated: non-conflicting permutations. In phase i color j runs its rings along axis
// pi_j(i) = (i + j) mod N of the N network axes. So in no phase two colors use the same links
// ("Optimal Bucket Algorithms for Large MPI Collectives on Torus Interconnects", section 4). The
// cores of a node come first in every color: data is reduced inside a node before it goes out. Axes
// of size 1 come last; nothing moves along them. orders=assigned: the axis orders of the colors,
// chosen by assign-colors{weights=balanced} together with the weights.
//
// A color's i-th reduce-scatter is put on the i-th axis of its order; its allgathers visit the axes
// in reverse. Exchanges take the axes in order, each as many as before. If the orders keep the
// colors apart, the schedule promises so, and the verifier checks the promise. (Rotations do unless
// there are more colors than axes, or cores, which all colors visit first.)
#include "passes/assign_permutations.h"

#include <algorithm>

#include "ir/make_error.h"
#include "passes/analysis/plan_axes.h"

namespace torc::passes {
namespace {

/// Moves the operations of `color` in `plan` with one axis each to the axes of its order, of which
/// `moving_axes` have more than one node.
llvm::Error moveRings(std::vector<ir::PlanOperation>& plan, std::uint32_t color, const Color& to,
                      std::size_t moving_axes) {
  for (const ir::PlanKind kind :
       {ir::PlanKind::kRingReduceScatter, ir::PlanKind::kRingScatter, ir::PlanKind::kRingAllgather,
        ir::PlanKind::kRingGather, ir::PlanKind::kSwingReduceScatter, ir::PlanKind::kSwingAllgather,
        ir::PlanKind::kGroupReduceScatter, ir::PlanKind::kGroupAllgather}) {
    llvm::SmallVector<ir::PlanOperation*, kMaxAxes> rings;
    for (ir::PlanOperation& operation : plan) {
      if (operation.kind == kind && operation.color == color) rings.push_back(&operation);
    }
    if (rings.empty()) continue;
    // Axes of size 1 come last in the order, so a plan may leave them out.
    if (rings.size() != to.axis_count && rings.size() != moving_axes) {
      return makeError("color " + llvm::Twine(color) + " has " + llvm::Twine(rings.size()) + " " +
                       llvm::StringRef(name(kind)) + " operations for " +
                       llvm::Twine(to.axis_count) + " axes");
    }
    if (!rings.front()->divides()) std::reverse(rings.begin(), rings.end());
    for (std::size_t i = 0; i < rings.size(); ++i)
      rings[i]->axis = to.order[i];
  }
  return llvm::Error::success();
}

/// Moves the exchanges of `color` in `plan` to the axes of its order, each with as many as before.
llvm::Error moveExchanges(const Topology& topology, std::vector<ir::PlanOperation>& plan,
                          std::uint32_t color, const Color& to, std::size_t moving_axes) {
  std::size_t next = 0;
  for (ir::PlanOperation& operation : plan) {
    if (operation.color != color || !operation.isExchange()) continue;
    if (operation.stride > 0)
      return makeError(operationText(topology, operation) + ": a stride is of one axis alone");
    std::uint32_t axes = 0;
    for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
      if ((operation.axisSet() >> axis & 1) == 0 || topology.axes[axis].size == 1) continue;
      if (next < moving_axes) axes |= 1u << to.order[next];
      ++next;
    }
    if (axes == 0) continue;
    if (operation.kind == ir::PlanKind::kExchange) {
      operation.axes = axes;
    } else {
      operation.axis = to.order[next - 1];
    }
  }
  if (next == 0 || next == moving_axes) return llvm::Error::success();
  return makeError("color " + llvm::Twine(color) + " has exchanges along " + llvm::Twine(next) +
                   " axes of " + llvm::Twine(moving_axes));
}

class AssignPermutations final : public Pass {
 public:
  explicit AssignPermutations(const AssignPermutationsPass& options)
      : Pass("assign-permutations", "gives colors axis orders that use different links in a phase",
             PassLevel::kPlan),
        orders_(*this, "orders", "rotations, or what assign-colors chose", options.orders) {}

  llvm::Expected<PassResult> run(ir::Program& program) override {
    Schedule& schedule = program.schedule;
    const std::vector<Color> old_colors = schedule.colors;
    const std::vector<ir::PlanOperation> old_plan = program.plan;
    const std::uint32_t old_flags = schedule.flags;

    const auto network = networkAxes(schedule.topology);
    const auto& axes = schedule.topology.axes;
    const auto moving_axes = static_cast<std::size_t>(
        std::count_if(axes.begin(), axes.begin() + schedule.topology.axis_count,
                      [](const Axis& axis) { return axis.size > 1; }));
    for (std::uint32_t i = 0; i < schedule.colors.size(); ++i) {
      if (*orders_ == ColorOrders::kRotated) {
        llvm::SmallVector<std::uint32_t, kMaxAxes> rotated = network;
        if (!network.empty()) {
          std::rotate(rotated.begin(), rotated.begin() + i % network.size(), rotated.end());
        }
        schedule.colors[i].order = colorOrder(schedule.topology, rotated);
      }
      if (llvm::Error error = moveRings(program.plan, i, schedule.colors[i], moving_axes)) {
        return error;
      }
      if (llvm::Error error =
              moveExchanges(schedule.topology, program.plan, i, schedule.colors[i], moving_axes)) {
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

 private:
  ChoiceOption<ColorOrders> orders_;
};

}  // namespace

llvm::ArrayRef<llvm::StringRef> words(ColorOrders) {
  static constexpr llvm::StringRef kWords[] = {"rotated", "assigned"};
  return kWords;
}

std::unique_ptr<Pass> makePass(const AssignPermutationsPass& options) {
  return std::make_unique<AssignPermutations>(options);
}

}  // namespace torc::passes
