// Turns a plan into steps: checks before the expansion, statistics after it.
#include "passes/analysis/plan_expander.h"

#include <utility>

#include "ir/make_error.h"
#include "passes/analysis/plan_axes.h"

namespace torc::passes {

llvm::Expected<PassResult> PlanExpander::run(ir::Program& program) {
  if (program.schedule.colors.empty()) return makeError("the plan has no color");
  if (llvm::Error error = checkExpander(program, name())) return error;
  if (llvm::Error error = checkServes(program)) return error;
  llvm::Expected<Schedule> schedule = expand(program);
  if (!schedule) return schedule.takeError();
  program.schedule = std::move(*schedule);
  program.plan.clear();
  operations_ = static_cast<double>(program.schedule.operations.size());
  phases_ = program.schedule.operations.back().phase + 1.0;
  return PassResult::kWithChange;
}

}  // namespace torc::passes
