// Divides every color over the two directions of its rings, or not ("Optimal Bucket Algorithms for
// Large MPI Collectives on Torus Interconnects", section 2.1 and Algorithm 1, lines 7 and 8).
//
// model=bidirectional: a link carries a message each way at the same time; half of a color's data
// goes clockwise and half anti-clockwise. Only a ring has two directions: where all axes are lines
// (mesh, or cut by a dead link), whose rings run both ways anyway, the color stays whole.
// model=half-latency [own]: a link carries a message each way; whole blocks go both ways, half
// around the ring (passes/analysis/ring_steps.h): as many bytes in half the steps. Two halves of a
// block are told apart only where it is as far away either way. model=unidirectional: a link
// carries one message at a time, so one direction is all there is.
#include "passes/split_directions.h"

namespace torc {
namespace {

/// Whether some axis of more than one node is a ring; not if a dead link cuts it.
bool hasRing(const Topology& topology) {
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const Axis& axis = topology.axes[i];
    if (axis.kind == AxisKind::kMesh || axis.size == 1 || topology.isLine(i)) continue;
    return true;
  }
  return false;
}

class SplitDirections final : public Pass {
 public:
  explicit SplitDirections(const SplitDirectionsPass& options)
      : Pass("split-directions", "halves every color over the two directions of its rings",
             PassLevel::kPlan),
        model_(*this, "model", "what a link carries at a time", options.model) {}

  llvm::Expected<PassResult> run(Program& program) override {
    Schedule& schedule = program.schedule;
    const bool both = *model_ != DirectionModel::kUnidirectional && hasRing(schedule.topology);
    const std::uint32_t directions = both ? 2 : 1;
    bool any = false;
    for (Color& color : schedule.colors) {
      any |= color.directions != directions;
      color.directions = directions;
    }
    const bool half_latency = both && *model_ == DirectionModel::kHalfLatency;
    for (PlanOperation& operation : program.plan) {
      if (operation.kind == PlanKind::kPhaseBarrier) continue;
      any |= operation.half_latency != half_latency;
      operation.half_latency = half_latency;
    }
    return changed(any);
  }

 private:
  ChoiceOption<DirectionModel> model_;
};

}  // namespace

llvm::ArrayRef<llvm::StringRef> words(DirectionModel) {
  static constexpr llvm::StringRef kWords[] = {"bidirectional", "half-latency", "unidirectional"};
  return kWords;
}

std::unique_ptr<Pass> makePass(const SplitDirectionsPass& options) {
  return std::make_unique<SplitDirections>(options);
}

}  // namespace torc
