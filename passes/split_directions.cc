// Divides every color over the two directions of its rings, if there are two ("Optimal Bucket
// Algorithms for Large MPI Collectives on Torus Interconnects", section 2.1 and Algorithm 1, lines
// 7 and 8).
//
// model=bidirectional: a link carries a message each way at the same time; half of a color's data
// goes clockwise and half anti-clockwise. Only a ring has two directions: if all axes are lines
// (mesh, or cut by a dead link), whose rings run both ways anyway, the color stays whole.
// model=half-latency [own]: a link carries a message each way; whole blocks go both ways, half
// around the ring (passes/analysis/ring_steps.h): as many bytes in half the steps. The two halves
// of a block are distinguished only if it is equally far either way. model=unidirectional: a link
// carries one message at a time, so there is only one direction.
//
// An exchange sends each message the shorter way around, so that both directions carry the same
// anyway; only on an even ring the opposite node is equally far either way, and one half of its
// block goes up there, the other half down. Trees go both ways with all of their data.
#include "passes/split_directions.h"

#include <llvm/ADT/ArrayRef.h>

namespace torc::passes {
namespace {

/// Whether some axis of more than one node is a ring, not cut by a dead link.
bool hasRing(const Topology& topology) {
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    const Axis& axis = topology.axes[i];
    if (axis.kind == AxisKind::kMesh || axis.size == 1 || topology.isLine(i)) continue;
    return true;
  }
  return false;
}

/// Whether the plan's operations of `color` go in two directions, each with half of its data.
bool hasTwoDirections(const Topology& topology, llvm::ArrayRef<ir::PlanOperation> plan,
                      std::uint32_t color) {
  for (const ir::PlanOperation& operation : plan) {
    if (operation.color != color) continue;
    if (operation.isRing() || operation.isInRounds()) return hasRing(topology);
    if (!operation.isExchange() || operation.kind == ir::PlanKind::kBruckAlltoall) continue;
    for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
      const Axis& along = topology.axes[axis];
      if (operation.axisSet() >> axis & 1 && along.isRing() && along.size % 2 == 0) return true;
    }
  }
  return false;
}

class SplitDirections final : public Pass {
 public:
  explicit SplitDirections(const SplitDirectionsPass& options)
      : Pass("split-directions", "halves every color over the two directions of its rings",
             PassLevel::kPlan),
        model_(*this, "model", "what a link carries at a time", options.model) {}

  llvm::Expected<PassResult> run(ir::Program& program) override {
    Schedule& schedule = program.schedule;
    const bool both = *model_ != DirectionModel::kUnidirectional;
    bool any = false;
    for (std::uint32_t i = 0; i < schedule.colors.size(); ++i) {
      const std::uint32_t directions =
          both && hasTwoDirections(schedule.topology, program.plan, i) ? 2 : 1;
      any |= schedule.colors[i].directions != directions;
      schedule.colors[i].directions = directions;
    }
    const bool half_latency = *model_ == DirectionModel::kHalfLatency && hasRing(schedule.topology);
    for (ir::PlanOperation& operation : program.plan) {
      if (!operation.isRing()) continue;
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

}  // namespace torc::passes
