// Recomputes all dependences of a schedule from the memory that its operations read and write;
// their listed order defines the meaning.
//
// by=region: exact ones (passes/analysis/exact_dependences.h). Phases then overlap as far as the
// data allows: a block moves on along the next axis as soon as its last sum is complete.
//
// by=phase: the phases of "Optimal Bucket Algorithms for Large MPI Collectives on Torus
// Interconnects", Algorithm 1, one after another. Inside a phase dependences are exact, and the
// messages that a stream sends to one neighbour, or receives from it, go one at a time; the first
// operations of a phase wait for the last ones of the phase before, in all streams.
#include "passes/infer_dependences.h"

#include <llvm/ADT/DenseMap.h>

#include "ir/peer_loops/peer_loops.h"
#include "passes/analysis/conflicts.h"
#include "passes/analysis/exact_dependences.h"
#include "passes/analysis/limits.h"

namespace torc::passes {
namespace {

llvm::Error inferByPhase(const Schedule& schedule, Dependences& dependences) {
  const ScheduleView view = schedule.view();
  const Schedule folded = ir::hasPeerLoops(view) ? ir::foldPeerLoops(view) : Schedule{};
  ConflictIndex index(ir::hasPeerLoops(view) ? folded.view() : view);
  OperationNumbers candidates;
  std::vector<std::uint32_t> barrier;  // last operations of the phase before
  std::vector<bool> has_successor(schedule.operations.size(), false);  // in its phase
  // The last message of this phase by stream, neighbour, and direction.
  llvm::DenseMap<std::uint64_t, std::uint32_t> last_message;
  std::uint32_t phase_begin = 0;
  for (std::uint32_t i = 0; i < schedule.operations.size(); ++i) {
    const Operation& operation = schedule.operations[i];
    if (operation.phase != schedule.operations[phase_begin].phase) {
      barrier.clear();
      for (std::uint32_t k = phase_begin; k < i; ++k) {
        if (!has_successor[k]) barrier.push_back(k);
      }
      index.clear();
      last_message.clear();
      phase_begin = i;
    }
    candidates.clear();
    index.add(i, candidates);
    if (operation.peer != kNone) {
      // A stream's messages are all of one loop over peers, or none is.
      const std::uint64_t key =
          (std::uint64_t{operation.stream} << 32 | operation.peer) << 1 | sends(operation.kind);
      const auto [last, is_first] = last_message.try_emplace(key, i);
      if (!is_first) candidates.push_back(std::exchange(last->second, i));
    }
    addSignals(view, i, candidates);
    for (const std::uint32_t candidate : candidates)
      has_successor[candidate] = true;
    if (candidates.empty()) {
      dependences.add(barrier);
    } else {
      dependences.addReduced(candidates);
    }
    if (llvm::Error error = checkLimits(i, dependences.size())) return error;
  }
  return llvm::Error::success();
}

class InferDependences final : public Pass {
 public:
  explicit InferDependences(const InferDependencesPass& options)
      : Pass("infer-dependences", "recomputes dependences, exactly or with phase barriers",
             PassLevel::kStep),
        by_(*this, "by", "exact dependences, or phases one after another", options.by) {}

  llvm::Expected<PassResult> run(ir::Program& program) override {
    Schedule& schedule = program.schedule;
    Dependences dependences(schedule.operations.size());
    if (llvm::Error error = *by_ == DependenceKind::kRegion ? addExact(schedule, dependences)
                                                            : inferByPhase(schedule, dependences)) {
      return error;
    }
    before_ = static_cast<double>(schedule.dependences.size());
    after_ = static_cast<double>(dependences.size());
    return changed(dependences.apply(schedule));
  }

 private:
  ChoiceOption<DependenceKind> by_;
  PassStatistic before_{*this, "dependences before"};
  PassStatistic after_{*this, "dependences after"};
};

}  // namespace

llvm::ArrayRef<llvm::StringRef> words(DependenceKind) {
  static constexpr llvm::StringRef kWords[] = {"region", "phase"};
  return kWords;
}

std::unique_ptr<Pass> makePass(const InferDependencesPass& options) {
  return std::make_unique<InferDependences>(options);
}

}  // namespace torc::passes
