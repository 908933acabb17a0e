// Splits the single color of a plan into colors, so that all 2N links of a node can work at the
// same time ("Optimal Bucket Algorithms for Large MPI Collectives on Torus Interconnects", section
// 4: "we divide the data into N colors"). Every color gets the plan of the single one;
// assign-permutations then gives them different axis orders.
//
// weights=equal: one color per network dimension of more than one node, each with 1/N of the data,
// which meets the lower bound on symmetric tori. They keep the axis order of the single one.
// weights=balanced: shares, with matching axis orders, that load every link in proportion to its
// speed and so meet the lower bound on every shape (passes/analysis/color_shares.h).
// weights=overlapped: the same for an allreduce with overlapping reduce-scatter and allgather, in
// which lines carry more; on a torus without lines these are the balanced ones.
#include "passes/assign_colors.h"

#include <vector>

#include "ir/make_error.h"
#include "passes/analysis/color_shares.h"
#include "passes/analysis/plan_axes.h"

namespace torc::passes {
namespace {

class AssignColors final : public Pass {
 public:
  explicit AssignColors(const AssignColorsPass& options)
      : Pass("assign-colors", "splits the data into one color per network axis", PassLevel::kPlan),
        weights_(*this, "weights", "share of the data of each color", options.weights) {}

  llvm::Expected<PassResult> run(ir::Program& program) override {
    Schedule& schedule = program.schedule;
    if (schedule.colors.size() != 1) {
      return makeError("the plan has " + llvm::Twine(schedule.colors.size()) +
                       " colors already; only a single one can be split");
    }
    const CollectiveRow& row = rowOf(schedule.collective);
    const bool overlapped = *weights_ == ColorWeights::kOverlapped;
    const bool has_halves = row.reduces() && row.inWhole() && row.outWhole() && !row.isRooted();
    if (overlapped && !has_halves) {
      return makeError("overlapped weights are for a reduce-scatter with an allgather; " +
                       llvm::Twine(llvm::StringRef(row.name)) + " is not both");
    }
    const Halves halves = overlapped ? Halves::kOverlapped : Halves::kApart;
    const std::vector<ColorShare> shares = *weights_ == ColorWeights::kEqual
                                               ? equalShares(schedule.topology)
                                               : balancedShares(schedule.topology, halves);
    const auto count = static_cast<std::uint32_t>(shares.size());
    colors_ = count;
    largest_load_ = largestLoad(schedule.topology, halves, shares);

    const Color single = schedule.colors.front();
    std::vector<Color> colors(count, single);
    for (std::uint32_t i = 0; i < count; ++i) {
      colors[i].weight = shares[i].weight;
      if (*weights_ != ColorWeights::kEqual) {
        colors[i].order = colorOrder(schedule.topology, shares[i].axes);
      }
    }
    if (colors == schedule.colors) return PassResult::kWithoutChange;
    schedule.colors = std::move(colors);

    std::vector<ir::PlanOperation> plan;
    for (ir::PlanOperation operation : program.plan) {
      if (operation.kind == ir::PlanKind::kPhaseBarrier) {
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
  ChoiceOption<ColorWeights> weights_;
  PassStatistic colors_{*this, "colors"};
  PassStatistic largest_load_{*this, "largest load of a link, in vectors over a ring's capacity"};
};

}  // namespace

llvm::ArrayRef<llvm::StringRef> words(ColorWeights) {
  static constexpr llvm::StringRef kWords[] = {"equal", "balanced", "overlapped"};
  return kWords;
}

std::unique_ptr<Pass> makePass(const AssignColorsPass& options) {
  return std::make_unique<AssignColors>(options);
}

}  // namespace torc::passes
