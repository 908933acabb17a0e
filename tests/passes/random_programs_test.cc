// Passes on programs that make no sense: each either refuses with a message, or leaves a program
// that is still well formed (which runPasses checks), and reports honestly.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "passes/registry/registry.h"
#include "tests/ir/random_schedule.h"
#include "tests/passes/pass_testing.h"

namespace torc::passes {
namespace {

RC_GTEST_PROP(RandomPrograms, PassesRefuseOrKeepThemWellFormed, ()) {
  const ir::Program program = ir::randomProgram([](std::int64_t lowest, std::int64_t highest) {
    return *rc::gen::inRange<std::int64_t>(lowest, highest + 1);
  });
  RC_PRE(program.schedule.segments == 1);  // the pass manager refuses the others
  for (const auto& pass : createAllPasses()) {
    if (program.isPlan() != (pass->level() == PassLevel::kPlan)) continue;
    ir::Program copy = program;
    const std::string fault = runPasses(copy, pass->text());
    // An error of the pass itself is a refusal; `after PASS: ...` says what it left is ill-formed.
    if (fault.starts_with("after ")) RC_FAIL(fault + "\n" + textOf(program));
    RC_ASSERT(!testing::Test::HasFailure());
  }
}

}  // namespace
}  // namespace torc::passes
