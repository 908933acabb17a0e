// Runs passes and checks their reports.
#include "tests/passes/pass_testing.h"

#include <gtest/gtest.h>

#include "compiler/algorithms/bucket/bucket.h"
#include "ir/step_builder.h"
#include "ir/text/text.h"
#include "passes/manager/pass_manager.h"
#include "passes/registry/pipeline_text.h"
#include "schedules/validation/validate.h"

namespace torc::passes {
namespace {

/// Runs passes as the pass manager does; `last` is the report of the last one.
std::string run(ir::Program& program, llvm::StringRef pipeline, PassResult& last) {
  llvm::Expected<std::vector<std::unique_ptr<Pass>>> passes = parsePipeline(pipeline);
  if (!passes) return toString(passes.takeError());
  for (const auto& pass : *passes) {
    const std::string before = textOf(program);
    if (program.isPlan() != (pass->level() == PassLevel::kPlan)) {
      return pass->name().str() + " does not work on this level";
    }
    llvm::Expected<PassResult> result = pass->run(program);
    if (!result) return toString(result.takeError());
    const Status status = validate(program.schedule.view());
    if (!status.ok()) return "after " + pass->text() + ": " + status.message();
    EXPECT_EQ(textOf(program) != before, *result == PassResult::kWithChange)
        << pass->text() << " reports falsely whether it changed\n"
        << before;
    last = *result;
  }
  return "";
}

}  // namespace

ir::Program planOf(Collective collective, llvm::StringRef shape, std::uint32_t colors) {
  return {ir::scheduleHeader(collective, *parseTopology(shape.str()), colors), {}};
}

std::vector<Collective> bucketCollectives() {
  std::vector<Collective> collectives;
  for (int c = 0; c < kCollectiveCount; ++c) {
    const CollectiveRow& row = rowOf(static_cast<Collective>(c));
    if (!row.isRooted() && !row.isPrefix() && row.blocks == BlockSpace::kNode)
      collectives.push_back(static_cast<Collective>(c));
  }
  return collectives;
}

ir::Program bucketPlan(Collective collective, llvm::StringRef shape) {
  StatusOr<Topology> topology = parseTopology(shape.str());
  if (!topology.ok()) {
    ADD_FAILURE() << topology.status().message();
    return {};
  }
  return cantFail(compiler::lowerBucket({collective, *topology}));
}

std::string textOf(const ir::Program& program) {
  return ir::programText(program);
}

std::string runPasses(ir::Program& program, llvm::StringRef pipeline) {
  PassResult last = PassResult::kWithoutChange;
  return run(program, pipeline, last);
}

PassResult runPass(ir::Program& program, llvm::StringRef pass) {
  PassResult last = PassResult::kWithoutChange;
  EXPECT_EQ(run(program, pass, last), "");
  return last;
}

std::string faultOf(const ir::Program& program) {
  llvm::Error error = checkProgram(program);
  return error ? toString(std::move(error)) : "";
}

}  // namespace torc::passes
