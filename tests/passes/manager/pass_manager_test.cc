// The pass manager: what it proves, and where it stops. What it prints: prints.tir.
#include "passes/manager/pass_manager.h"

#include <gtest/gtest.h>

#include "ir/make_error.h"
#include "passes/registry/pipeline_text.h"
#include "tests/passes/pass_testing.h"

namespace torc::passes {
namespace {

/// Leaves out the last operation of a schedule.
class DropLast final : public Pass {
 public:
  DropLast() : Pass("drop-last", "breaks the schedule", PassLevel::kStep) {}
  llvm::Expected<PassResult> run(ir::Program& program) override {
    Schedule& schedule = program.schedule;
    schedule.dependences.resize(schedule.operations.back().first_dependence);
    schedule.operations.pop_back();
    return PassResult::kWithChange;
  }
};

/// Points the last operation to a stream that does not exist.
class LoseStream final : public Pass {
 public:
  LoseStream() : Pass("lose-stream", "breaks the structure", PassLevel::kStep) {}
  llvm::Expected<PassResult> run(ir::Program& program) override {
    program.schedule.operations.back().stream = 99;
    return PassResult::kWithChange;
  }
};

class Refuse final : public Pass {
 public:
  Refuse() : Pass("refuse", "fails", PassLevel::kStep) {}
  llvm::Expected<PassResult> run(ir::Program&) override { return makeError("no"); }
};

/// Runs `passes`, with `last` after them, on the allreduce of a ring of 3.
struct Outcome {
  std::string error, out;
};
Outcome runWith(llvm::StringRef passes, std::unique_ptr<Pass> last,
                PassManagerOptions options = {}) {
  ir::Program program = bucketPlan(Collective::kAllreduce, "3");
  std::vector<std::unique_ptr<Pass>> parsed = cantFail(parsePipeline(passes));
  if (last) parsed.push_back(std::move(last));
  Outcome result;
  llvm::raw_string_ostream out(result.out);
  options.out = &out;
  llvm::Error error = PassManager(std::move(parsed), options).run(program);
  result.error = error ? toString(std::move(error)) : "";
  return result;
}

TEST(PassManager, ProvesAfterEachPass) {
  EXPECT_EQ(runWith("expand-rings,coalesce", nullptr).error, "");
  const std::string fault = runWith("expand-rings", std::make_unique<DropLast>()).error;
  EXPECT_TRUE(llvm::StringRef(fault).starts_with(
      "after pass 'drop-last': the schedule is not proved\nerror: "))
      << fault;
  EXPECT_EQ(runWith("expand-rings", std::make_unique<LoseStream>()).error,
            "after pass 'lose-stream': operation 9: stream 99 does not exist (schedule has 1)");
}

TEST(PassManager, DoesNotProveIfToldSo) {
  PassManagerOptions options;
  options.verify_each = false;
  EXPECT_EQ(runWith("expand-rings", std::make_unique<DropLast>(), options).error, "");
}

TEST(PassManager, NamesThePassThatFails) {
  EXPECT_EQ(runWith("expand-rings", std::make_unique<Refuse>()).error, "pass 'refuse': no");
  EXPECT_EQ(runWith("coalesce", nullptr).error,
            "pass 'coalesce': needs step operations; run expand-rings before it");
  EXPECT_EQ(runWith("expand-rings,expand-rings", nullptr).error,
            "pass 'expand-rings': needs plan operations, and the program has steps");
}

TEST(PassManager, StopsAtTheFirstFailure) {
  PassManagerOptions options;
  options.print_after_all = true;
  const Outcome outcome = runWith("coalesce,expand-rings", nullptr, options);
  EXPECT_EQ(outcome.out, "");
}

}  // namespace
}  // namespace torc::passes
