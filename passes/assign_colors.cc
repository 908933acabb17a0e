// Splits the single color of a plan into N colors, N being the number of network dimensions of more
// than one node, so that all 2N links of a node can work at the same time ("Optimal Bucket
// Algorithms for Large MPI Collectives on Torus Interconnects", section 4: "we divide the data into
// N colors"). Every color has the plan and the axis order that the single one had; it is
// assign-permutations that lets them go different ways.
//
// weights=equal: each color gets 1/N of the data, which meets the lower bound on symmetric tori.
#include "passes/assign_colors.h"

#include <vector>

#include "passes/plan_axes.h"

namespace torc {
namespace {

class AssignColors final : public Pass {
 public:
  AssignColors()
      : Pass("assign-colors", "splits the data into one color per network axis", PassLevel::kPlan) {
  }

  llvm::Expected<PassResult> run(Program& program) override {
    Schedule& schedule = program.schedule;
    if (schedule.colors.size() != 1) {
      return passError("the plan has " + llvm::Twine(schedule.colors.size()) +
                       " colors already; only a single one can be split");
    }
    const auto count = static_cast<std::uint32_t>(networkAxes(schedule.topology).size());
    colors_ = count == 0 ? 1 : count;
    if (count <= 1) return PassResult::kWithoutChange;

    Color color = schedule.colors.front();
    color.weight = 1;
    schedule.colors.assign(count, color);

    std::vector<PlanOperation> plan;
    for (PlanOperation operation : program.plan) {
      if (operation.kind == PlanKind::kPhaseBarrier) {
        plan.push_back(operation);
        continue;
      }
      for (operation.color = 0; operation.color < count; ++operation.color) {
        plan.push_back(operation);
      }
    }
    program.plan = std::move(plan);
    return PassResult::kWithChange;
  }

 private:
  ChoiceOption weights_{*this, "weights", "share of the data of each color", {"equal"}};
  PassStatistic colors_{*this, "colors"};
};

}  // namespace

std::unique_ptr<Pass> createAssignColorsPass() {
  return std::make_unique<AssignColors>();
}

}  // namespace torc
