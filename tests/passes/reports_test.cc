// Every pass on many shapes: it reports correctly and changes nothing the second time, and the
// schedules are proved for any order of the passes. Passes on meaningless programs: each either
// refuses with a message, or leaves a program that is still well formed (checked by runPasses), and
// reports correctly.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "passes/registry/registry.h"
#include "tests/ir/random_schedule.h"
#include "tests/passes/pass_testing.h"

namespace torc::passes {
namespace {

constexpr const char* kShapes[] = {"1",     "2",     "5",    "4m",      "2x1x3",    "4x3m", "6",
                                   "4x4x2", "3x2+2", "2m+3", "2x2x2x2", "2mx3mx2m", "1x1m", "1+3"};

std::vector<ir::Program> plans() {
  std::vector<ir::Program> plans;
  for (const llvm::StringRef shape : kShapes) {
    for (const Collective collective : bucketCollectives())
      plans.push_back(bucketPlan(collective, shape));
  }
  return plans;
}

std::string nameOf(const ir::Program& program) {
  return program.schedule.name + " on " + program.schedule.topology.shape();
}

TEST(Reports, OnlyTheFirstRunChanges) {
  for (ir::Program& program : plans()) {
    SCOPED_TRACE(nameOf(program));
    ASSERT_EQ(runPasses(program, "assign-colors"), "");
    for (const char* pass :
         {"assign-permutations", "split-directions{model=unidirectional}",
          "split-directions{model=half-latency}", "split-directions{model=bidirectional}"}) {
      runPass(program, pass);
      EXPECT_EQ(runPass(program, pass), PassResult::kWithoutChange) << pass;
    }
    ASSERT_EQ(runPasses(program, "expand-rings"), "");
    for (const char* pass : {"coalesce", "infer-dependences{by=phase}",
                             "infer-dependences{by=region}", "order-links", "allocate-scratch"}) {
      runPass(program, pass);
      EXPECT_EQ(runPass(program, pass), PassResult::kWithoutChange) << pass;
    }
    EXPECT_EQ(runPass(program, "pipeline{chunks=1}"), PassResult::kWithoutChange);
    EXPECT_EQ(runPass(program, "pipeline{chunks=2}"), PassResult::kWithChange);
    EXPECT_EQ(runPass(program, "pipeline{chunks=2}"), PassResult::kWithChange);
  }
}

TEST(Reports, EveryOrderOfPassesIsProved) {
  const char* plan_pipelines[] = {
      "",
      "assign-colors,",
      "assign-permutations,split-directions,",
      "assign-colors,split-directions,assign-permutations,",
      "assign-colors{weights=balanced},assign-permutations{orders=assigned},split-directions,",
      "assign-colors{weights=balanced},assign-permutations,",
      "split-directions{model=half-latency},",
      "assign-colors,split-directions{model=half-latency},assign-permutations,",
      "assign-colors{weights=balanced},assign-permutations{orders=assigned},"
      "split-directions{model=half-latency},",
  };
  const char* step_pipelines[] = {
      "expand-rings",
      "expand-rings,allocate-scratch",
      "expand-rings,infer-dependences",
      "expand-rings,infer-dependences{by=phase},allocate-scratch{depth=1}",
      "expand-rings,infer-dependences,allocate-scratch{depth=1},pipeline{chunks=2}",
      "expand-rings,pipeline{chunks=3},coalesce,allocate-scratch{depth=3}",
      "expand-rings,coalesce,infer-dependences,allocate-scratch{depth=1}",
      "expand-rings,coalesce,infer-dependences,allocate-scratch{depth=1},infer-dependences",
      "expand-rings,coalesce,allocate-scratch,infer-dependences{by=phase}",
      "expand-rings,infer-dependences,coalesce,pipeline{chunks=2},infer-dependences{by=phase}",
      "expand-rings,order-links{in-flight=1},pipeline{chunks=2},order-links,allocate-scratch",
      "expand-rings,coalesce,pipeline{chunks=3},infer-dependences,order-links{in-flight=1},"
      "allocate-scratch{depth=1}",
      "expand-rings,coalesce,pipeline{chunks=3},infer-dependences,order-links,allocate-scratch",
  };
  for (const ir::Program& plan : plans()) {
    for (const std::string prefix : plan_pipelines) {
      for (const char* steps : step_pipelines) {
        ir::Program program = plan;
        SCOPED_TRACE(nameOf(plan) + ": " + prefix + steps);
        ASSERT_EQ(runPasses(program, prefix + steps), "");
        EXPECT_EQ(faultOf(program), "");
      }
    }
  }
}

TEST(Reports, PassesOfOneLevelRefuseTheOther) {
  ir::Program program = bucketPlan(Collective::kAllreduce, "3x2");
  EXPECT_EQ(runPasses(program, "coalesce"), "coalesce does not work on this level");
  ASSERT_EQ(runPasses(program, "expand-rings"), "");
  EXPECT_EQ(runPasses(program, "assign-colors"), "assign-colors does not work on this level");
}

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
