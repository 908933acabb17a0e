// Turns repeated steps into loops, such as those of rings and their allgathers; irregular steps
// stay unrolled.
#include "passes/loops/roll_loops.h"

#include <utility>

#include "passes/loops/loop_finder.h"
#include "passes/loops/loop_writer.h"
#include "schedules/validation/validate.h"

namespace torc::passes {
namespace {

class RollLoops final : public Pass {
 public:
  explicit RollLoops(const RollLoopsPass& options)
      : Pass("roll-loops", "makes loops of steps that repeat", PassLevel::kStep),
        least_(*this, "least", "iterations that make a loop", 2, kMostLeastIterations,
               options.least) {}

  bool takesSegments() const override { return true; }

  llvm::Expected<PassResult> run(ir::Program& program) override {
    const RolledLoops found = findLoops(program.schedule, *least_);
    loops_ = static_cast<double>(found.loops.size());
    before_ = static_cast<double>(program.schedule.operations.size());
    after_ = before_.value();
    if (found.loops.empty()) return PassResult::kWithoutChange;
    Schedule rolled = withLoops(program.schedule, found);
    // Loops may need too many different dependences, and a property of unrolled steps may not be
    // provable for every iteration: then the steps stay as they are.
    if (!validate(rolled.view()).ok()) {
      loops_ = 0;
      return PassResult::kWithoutChange;
    }
    program.schedule = std::move(rolled);
    after_ = static_cast<double>(program.schedule.operations.size());
    return PassResult::kWithChange;
  }

 private:
  IntegerOption least_;
  PassStatistic loops_{*this, "loops"};
  PassStatistic before_{*this, "operations before"};
  PassStatistic after_{*this, "operations after"};
};

}  // namespace

std::unique_ptr<Pass> makePass(const RollLoopsPass& options) {
  return std::make_unique<RollLoops>(options);
}

}  // namespace torc::passes
