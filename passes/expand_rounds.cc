// Turns a plan into steps: the reduce-scatters and allgathers of every color along one axis after
// another, each in logarithmically many rounds (passes/analysis/ring_rounds.h). One stream per
// part; the part of direction - is the mirror image. An allgather visits the axes in reverse.
//
// Dependences and scratch are assigned here: those of the rounds are known, and allocate-scratch
// would give each node's own frames a slot each.
#include "passes/expand_rounds.h"

#include <vector>

#include "ir/make_error.h"
#include "ir/step_builder.h"
#include "passes/analysis/limits.h"
#include "passes/analysis/plan_axes.h"
#include "passes/analysis/plan_expander.h"
#include "passes/analysis/ring_rounds.h"
#include "passes/rounds/round_steps.h"

namespace torc::passes {
namespace {

/// Tables of a node's messages grow with the square of an axis's length.
constexpr std::uint32_t kLongestAxis = 4096;

class RoundExpansion {
 public:
  explicit RoundExpansion(const ir::Program& program)
      : program_(program), topology_(program.schedule.topology), builder_(program.schedule) {}

  llvm::Expected<Schedule> run() {
    makeParts();
    llvm::Expected<std::vector<PlanPhase>> phases = phasesOf(program_);
    if (!phases) return phases.takeError();
    for (std::size_t i = 0; i < phases->size(); ++i) {
      builder_.setPhase(static_cast<std::uint32_t>(i));
      for (RoundPart& part : parts_) {
        for (const ir::PlanOperation& operation : (*phases)[i]) {
          if (operation.color != part.color) continue;
          if (llvm::Error error = expand(operation, part)) return error;
        }
      }
    }
    for (RoundPart& part : parts_) {
      if (llvm::Error error = part.progress.checkDone()) return error;
      // There is one node.
      if (!part.progress.hasStarted()) RoundSteps::copyOwn(builder_, part);
    }
    return builder_.take();
  }

 private:
  void makeParts() {
    const ScheduleView schedule = program_.schedule.view();
    const std::uint32_t count = schedule.partCount();
    for (std::uint32_t index = 0; index < count; ++index) {
      const PartIndex of = schedule.partIndex(index);
      RoundPart part(program_.schedule, of.color);
      part.part = index;
      part.direction = of.direction;
      part.stream = builder_.addStream({index, 0});
      parts_.push_back(std::move(part));
    }
  }

  llvm::Error expand(const ir::PlanOperation& operation, RoundPart& part) {
    if (llvm::Error error = part.progress.check(operation)) return error;
    const Axis& axis = topology_.axes[operation.axis];
    if (axis.size > kLongestAxis) {
      return makeError(operationText(topology_, operation) + ": it has " + llvm::Twine(axis.size) +
                       " nodes, more than " + llvm::Twine(kLongestAxis));
    }
    const bool swings = operation.kind == ir::PlanKind::kSwingReduceScatter ||
                        operation.kind == ir::PlanKind::kSwingAllgather;
    const std::vector<RingRound> rounds =
        (swings ? swingRounds : groupRounds)(axis.size, axis.wraps(), part.direction);
    if (llvm::Error error = checkSize(rounds, part)) return error;
    RoundSteps steps(builder_, part, operation.axis);
    if (operation.reduceScatters()) {
      steps.reduceScatter(rounds);
    } else {
      steps.allgather(rounds);
    }
    part.progress.finish(operation);
    return llvm::Error::success();
  }

  /// A message is up to two sends, two receives and four additions, which wait for the operations
  /// that brought the blocks.
  llvm::Error checkSize(const std::vector<RingRound>& rounds, const RoundPart& part) {
    std::uint64_t messages = 0;
    for (const RingRound& round : rounds)
      messages += round.size();
    const std::uint64_t waits = part.ended.size() + 4 * rounds.size();
    const Schedule& schedule = builder_.schedule();
    return checkLimits(schedule.operations.size() + 8 * messages,
                       schedule.dependences.size() + 8 * messages * waits);
  }

  const ir::Program& program_;
  const Topology& topology_;
  ir::StepBuilder builder_;
  std::vector<RoundPart> parts_;
};

class ExpandRounds final : public PlanExpander {
 public:
  ExpandRounds()
      : PlanExpander(
            "expand-rounds",
            "turns reduce-scatters and allgathers by Swing, or in groups, into step operations") {}

 private:
  llvm::Error checkServes(const ir::Program& program) const override {
    const CollectiveRow& row = rowOf(program.schedule.collective);
    if (row.isRooted() || row.isPrefix() || row.blocks != BlockSpace::kNode) {
      return makeError("rounds serve allreduce, reduce_scatter and allgather; " +
                       llvm::Twine(row.name) + " is none of them");
    }
    if (program.schedule.topology.isDamaged()) {
      return makeError("messages to nodes farther away cannot avoid the damage");
    }
    return llvm::Error::success();
  }
  llvm::Expected<Schedule> expand(const ir::Program& program) const override {
    return RoundExpansion(program).run();
  }
};

}  // namespace

std::unique_ptr<Pass> makePass(const ExpandRoundsPass&) {
  return std::make_unique<ExpandRounds>();
}

}  // namespace torc::passes
