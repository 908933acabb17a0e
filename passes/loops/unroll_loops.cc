#include "passes/loops/unroll_loops.h"

#include <utility>

#include "schedules/loops/unroll.h"

namespace torc::passes {
namespace {

class UnrollLoops final : public Pass {
 public:
  UnrollLoops() : Pass("unroll-loops", "writes loops out", PassLevel::kStep) {}

  bool takesSegments() const override { return true; }

  llvm::Expected<PassResult> run(ir::Program& program) override {
    if (program.schedule.loops.empty()) return PassResult::kWithoutChange;
    program.schedule = unrollLoops(program.schedule.view()).schedule;
    return PassResult::kWithChange;
  }
};

}  // namespace

std::unique_ptr<Pass> makePass(const UnrollLoopsPass&) {
  return std::make_unique<UnrollLoops>();
}

}  // namespace torc::passes
