// Common base of the passes that turn a plan into step operations.
#ifndef TORC_PASSES_ANALYSIS_PLAN_EXPANDER_H_
#define TORC_PASSES_ANALYSIS_PLAN_EXPANDER_H_

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "passes/manager/pass.h"

namespace torc::passes {

class PlanExpander : public Pass {
 public:
  PlanExpander(llvm::StringRef name, llvm::StringRef description)
      : Pass(name, description, PassLevel::kPlan) {}

  llvm::Expected<PassResult> run(ir::Program& program) final;

 private:
  /// An error if the pass does not serve the collective or the damage.
  virtual llvm::Error checkServes(const ir::Program& program) const = 0;
  /// The steps of `program`, whose plan has a color and only operations of this pass, at least one.
  virtual llvm::Expected<Schedule> expand(const ir::Program& program) const = 0;

  PassStatistic operations_{*this, "operations"};
  PassStatistic phases_{*this, "phases"};
};

}  // namespace torc::passes

#endif  // TORC_PASSES_ANALYSIS_PLAN_EXPANDER_H_
