// Runs a pipeline of passes.
#include "passes/manager/pass_manager.h"

#include <chrono>

#include <llvm/Support/Format.h>

#include "ir/make_error.h"
#include "ir/text/text.h"
#include "ir/verifier/verifier.h"
#include "schedules/loops/unroll.h"
#include "schedules/validation/validate.h"

namespace torc::passes {
namespace {

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

llvm::Error checkProgram(const ir::Program& program) {
  const ScheduleView schedule = program.schedule.view();
  if (Status status = validate(schedule); !status.ok()) return makeError(status);
  if (program.isPlan()) return llvm::Error::success();
  ir::VerifyOptions options;
  options.max_faults = 1;
  const ir::VerifyResult result = ir::verify(schedule, options);
  if (result.ok()) return llvm::Error::success();
  std::string text = "the schedule is not proved\n";
  llvm::raw_string_ostream out(text);
  ir::printFaults(schedule, result, out);
  return makeError(llvm::StringRef(text).rtrim());
}

llvm::Error PassManager::runOne(Pass& pass, ir::Program& program) const {
  const bool is_plan = program.isPlan();
  if (is_plan != (pass.level() == PassLevel::kPlan)) {
    return makeError(
        "pass '" + pass.name() + "': " +
        (is_plan ? "needs step operations; run " + std::string(program.expander()) + " before it"
                 : "needs plan operations, and the program has steps"));
  }
  if (pass.level() == PassLevel::kPlan && !program.schedule.links.empty())
    return makeError("pass '" + pass.name() + "': is of tori, and the program is on a graph");
  if (program.schedule.segments > 1 && !pass.takesSegments()) {
    return makeError("pass '" + pass.name() + "': the program is in segments, which come last");
  }
  const auto start = std::chrono::steady_clock::now();
  // Passes take unrolled steps.
  const bool has_loops = !program.schedule.loops.empty();
  if (has_loops) program.schedule = unrollLoops(program.schedule.view()).schedule;
  llvm::Expected<PassResult> result = pass.run(program);
  const double pass_seconds = secondsSince(start);
  if (!result) return makeError("pass '" + pass.name() + "': " + toString(result.takeError()));

  const bool with_change = has_loops || *result == PassResult::kWithChange;
  if (options_.print_after_all) {
    *options_.out << "// ---- after " << pass.text() << (with_change ? "\n" : ": no change\n");
    if (with_change) *options_.out << ir::programText(program);
  }
  const auto proof = std::chrono::steady_clock::now();
  if (options_.verify_each && with_change) {
    if (llvm::Error error = checkProgram(program)) {
      return makeError("after pass '" + pass.name() + "': " + toString(std::move(error)));
    }
  }
  if (options_.time_passes) {
    *options_.out << llvm::format("%10.6f s  %10.6f s  ", pass_seconds, secondsSince(proof))
                  << pass.text() << '\n';
  }
  return llvm::Error::success();
}

llvm::Error PassManager::run(ir::Program& program) {
  if (options_.time_passes) *options_.out << "      pass         proof  pipeline\n";
  for (const auto& pass : passes_) {
    if (llvm::Error error = runOne(*pass, program)) return error;
  }
  if (options_.statistics) {
    for (const auto& pass : passes_) {
      for (const PassStatistic* statistic : pass->statistics()) {
        *options_.out << llvm::format("%12g  ", statistic->value()) << pass->name() << ": "
                      << statistic->description() << '\n';
      }
    }
  }
  return llvm::Error::success();
}

}  // namespace torc::passes
