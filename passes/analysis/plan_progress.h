// How far a plan of rings has come with a color: which axes are reduced, or scattered along, and
// which gathered. Finds the plans that could not compute the collective.
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

  /// Whether only the blocks of the own coordinate on `axis` count now: before an allgather along
  /// it and after a reduce-scatter or a scatter.
  bool isFixed(std::uint32_t axis) const { return fixed_ >> axis & 1; }
  /// Whether a ring has been finished.
  bool hasStarted() const { return started_; }
  /// Whether `axis` is the only one left to reduce.
  bool isLastToReduce(std::uint32_t axis) const;
  /// Whether no other axis has been, or is, reduced or scattered along before `axis`.
  bool isFirstToDivide(std::uint32_t axis) const {
    return divisions_.empty() || divisions_.front() == axis;
  }

  /// Whether `ring`, of this color and on an axis of more than one node, may come next.
  llvm::Error check(const ir::PlanOperation& ring) const;
  void finish(const ir::PlanOperation& ring);
  /// Whether nothing is left to do.
  llvm::Error checkDone() const;

 private:
  /// Whether it has been reduced or scattered along `axis`.
  bool isDivided(std::uint32_t axis) const { return llvm::is_contained(divisions_, axis); }
  /// The last divided axis that has not been gathered along; kNone: all have.
  std::uint32_t lastDivided() const;

  const Schedule& schedule_;
  std::uint32_t color_;
  bool started_ = false;
  std::uint8_t fixed_;                                    // a bit per axis
  llvm::SmallVector<std::uint32_t, kMaxAxes> divisions_;  // axes, as they were divided
};

}  // namespace torc::passes

#endif  // TORC_PASSES_ANALYSIS_PLAN_PROGRESS_H_
