#include "passes/analysis/exact_dependences.h"

#include "ir/peer_loops/peer_loops.h"
#include "passes/analysis/conflicts.h"
#include "passes/analysis/limits.h"

namespace torc::passes {

void addSignals(const ScheduleView& schedule, std::uint32_t i, OperationNumbers& candidates) {
  const Operation& operation = schedule.operations[i];
  for (const std::uint32_t before : schedule.dependencesOf(operation)) {
    if (isSignal(operation.kind) || isSignal(schedule.operations[before].kind)) {
      candidates.push_back(before);
    }
  }
}

llvm::Error addExact(const Schedule& schedule, Dependences& dependences) {
  const ScheduleView view = schedule.view();
  const Schedule folded = ir::hasPeerLoops(view) ? ir::foldPeerLoops(view) : Schedule{};
  ConflictIndex index(ir::hasPeerLoops(view) ? folded.view() : view);
  OperationNumbers candidates;
  for (std::uint32_t i = 0; i < schedule.operations.size(); ++i) {
    candidates.clear();
    index.add(i, candidates);
    addSignals(view, i, candidates);
    dependences.addReduced(candidates);
    if (llvm::Error error = checkLimits(i, dependences.size())) return error;
  }
  return llvm::Error::success();
}

llvm::Expected<Schedule> withDependences(llvm::Expected<Schedule> steps) {
  if (!steps) return steps;
  Dependences dependences(steps->operations.size());
  if (llvm::Error error = addExact(*steps, dependences)) return error;
  dependences.apply(*steps);
  return steps;
}

}  // namespace torc::passes
