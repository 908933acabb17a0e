// Progress of a color through a plan of rings: the axes already reduced or scattered along, and
// those gathered. Rejects plans that could not compute the collective.
#ifndef TORC_PASSES_ANALYSIS_PLAN_PROGRESS_H_
#define TORC_PASSES_ANALYSIS_PLAN_PROGRESS_H_

#include <cstdint>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Support/Error.h>

#include "ir/program.h"

namespace torc::passes {

class PlanProgress {
 public:
  /// At the start of the plan of `schedule`, which must outlive this object.
  PlanProgress(const Schedule& schedule, std::uint32_t color);

  /// Whether only the blocks of the own coordinate on `axis` are in use now: before an allgather
  /// along it and after a reduce-scatter or a scatter.
  bool isFixed(std::uint32_t axis) const { return fixed_ >> axis & 1; }
  /// Whether a ring has been finished.
  bool hasStarted() const { return started_; }
  bool isLastToReduce(std::uint32_t axis) const;
  /// Whether no axis before `axis` has been, or is being, reduced or scattered along.
  bool isFirstToDivide(std::uint32_t axis) const {
    return divisions_.empty() || divisions_.front() == axis;
  }

  /// Checks that `ring`, of this color and on an axis of more than one node, may come next.
  llvm::Error check(const ir::PlanOperation& ring) const;
  void finish(const ir::PlanOperation& ring);
  /// Checks that the plan is complete.
  llvm::Error checkDone() const;

 private:
  /// Whether it has been reduced or scattered along `axis`.
  bool isDivided(std::uint32_t axis) const { return llvm::is_contained(divisions_, axis); }
  /// The last divided axis that has not been gathered along; kNone: there is none.
  std::uint32_t lastDivided() const;

  const Schedule& schedule_;
  std::uint32_t color_;
  bool started_ = false;
  std::uint8_t fixed_;                                    // a bit per axis
  llvm::SmallVector<std::uint32_t, kMaxAxes> divisions_;  // axes, in the order of their division
};

}  // namespace torc::passes

#endif  // TORC_PASSES_ANALYSIS_PLAN_PROGRESS_H_
