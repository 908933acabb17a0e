#include "passes/pipelining/stagger_chunks.h"

#include <algorithm>
#include <optional>

#include "ir/step_builder.h"
#include "schedules/root.h"

namespace torc::passes {
namespace {

/// The first axis along which every node has a neighbour, or is beside damage and does not wait.
/// Axes of cut rings may count as lines.
std::optional<std::uint32_t> ringOf(const ScheduleView& schedule) {
  const Topology topology = asCounted(schedule).topology;
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    if (topology.axes[axis].isRing()) return axis;
  }
  return std::nullopt;
}

class StaggerChunks final : public Pass {
 public:
  StaggerChunks()
      : Pass("stagger-chunks", "lets chunks that are sent at the same time begin a start-up apart",
             PassLevel::kStep) {}

  llvm::Expected<PassResult> run(ir::Program& program) override {
    const Schedule& old = program.schedule;
    std::vector<std::uint32_t> chunk_of;  // by part
    std::uint32_t chunks = 1;
    for (const Color& color : old.colors) {
      chunks = std::max(chunks, color.chunks);
      for (std::uint32_t part = 0; part < color.directions * color.chunks; ++part)
        chunk_of.push_back(part % color.chunks);
    }
    const std::optional<std::uint32_t> axis = ringOf(old.view());
    if (chunks == 1 || !axis || !old.loops.empty() || old.operations.empty()) {
      return PassResult::kWithoutChange;
    }
    const ScheduleView view = old.view();
    ir::StepBuilder builder(old);
    Schedule& made = builder.schedule();
    made = old;
    if (asCounted(view).topology.isDamaged()) made.flags |= kDropsBroken;  // some signals
    made.operations.clear();
    made.dependences.clear();
    builder.setPhase(old.operations.front().phase);
    const ir::StepPlace everywhere{builder.addStream({kNone, 0}), kNone};
    std::vector<std::uint32_t> signals;  // by chunk, from the second on
    for (std::uint32_t chunk = 1; chunk < chunks; ++chunk) {
      const std::vector<std::uint32_t> before(signals.end() - (chunk > 1 ? 1 : 0), signals.end());
      builder.notify(everywhere, ir::hop(*axis, 1), before);
      signals.push_back(builder.await(everywhere, ir::hop(*axis, 1), {}));
    }
    const auto added = static_cast<std::uint32_t>(builder.schedule().operations.size());
    llvm::SmallVector<std::uint32_t, 16> after;
    for (const Operation& operation : old.operations) {
      after.clear();
      for (const std::uint32_t before : view.dependencesOf(operation))
        after.push_back(before + added);
      const std::uint32_t part = old.streams[operation.stream].part;
      if (operation.kind == OperationKind::kSend && part != kNone && chunk_of[part] > 0) {
        after.push_back(signals[chunk_of[part] - 1]);
      }
      builder.addOperation(operation, after);
    }
    program.schedule = builder.take();
    return PassResult::kWithChange;
  }
};

}  // namespace

bool canStagger(const ScheduleView& schedule) {
  return ringOf(schedule).has_value();
}

std::unique_ptr<Pass> makePass(const StaggerChunksPass&) {
  return std::make_unique<StaggerChunks>();
}

}  // namespace torc::passes
