// Symbolic proof, that of every rank by itself and execution on numbers agree: over random shapes
// (up to 5 dimensions, 150 ranks, torus and mesh, with and without cores), pipelines, counts and
// types. cells_test.cc compares the two proofs on mutants, too.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ir/text/text.h"
#include "ir/verifier/verifier.h"
#include "tests/properties/random_case.h"
#include "tests/runtime/execution/checked_job.h"

namespace torc {
namespace {

std::string faultsOf(const ScheduleView& schedule, const ir::VerifyOptions& options) {
  std::string text;
  llvm::raw_string_ostream out(text);
  ir::printFaults(schedule, ir::verify(schedule, options), out);
  return text;
}

RC_GTEST_PROP(Agreement, ProofsAndExecution, ()) {
  const CompileCase test_case = drawCase(150);
  const Schedule schedule = drawLoops(compileCase(test_case));
  const ScheduleView view = schedule.view();
  RC_LOG() << test_case.text() << "\n";
  RC_TAG(test_case.collective);
  if (const std::string faults = faultsOf(view, {}); !faults.empty()) RC_FAIL(faults);
  // Rank by rank a proof of trees takes minutes and gigabytes: boxes of ranks don't make up a tree.
  if (schedule.topology.ranks() <= (test_case.algorithm == "bucket" ? 150 : 100)) {
    const std::string faults = faultsOf(view, {.per_rank = true});
    if (!faults.empty()) RC_FAIL(faults);
  }
  for (int i = 0; i < 3; ++i) {
    const CheckedCall call = drawCall(schedule);
    const std::string wrong = runChecked(view, call);
    if (!wrong.empty()) RC_FAIL(wrong);
  }
}

RC_GTEST_PROP(Agreement, TextHoldsTheWholeSchedule, ()) {
  const Schedule schedule = drawLoops(compileCase(drawCase(100)));
  std::string text;
  llvm::raw_string_ostream out(text);
  ir::printProgram({schedule, {}}, out);
  llvm::Expected<ir::Program> parsed = ir::parseProgram(text, "printed");
  if (!parsed) RC_FAIL(llvm::toString(parsed.takeError()));
  RC_ASSERT(faultsOf(parsed->schedule.view(), {}).empty());
  std::string again;
  llvm::raw_string_ostream out_again(again);
  ir::printProgram(*parsed, out_again);
  RC_ASSERT(text == again);
}

}  // namespace
}  // namespace torc
