#include "passes/synchronize_sends.h"

namespace torc::passes {
namespace {

class SynchronizeSends final : public Pass {
 public:
  SynchronizeSends()
      : Pass("synchronize-sends", "lets sends that something waits for end with their receive",
             PassLevel::kStep) {}

  llvm::Expected<PassResult> run(ir::Program& program) override {
    Schedule& schedule = program.schedule;
    const bool were = (schedule.flags & kSynchronousSends) != 0;
    schedule.flags |= kSynchronousSends;
    return changed(!were);
  }
};

}  // namespace

std::unique_ptr<Pass> makePass(const SynchronizeSendsPass&) {
  return std::make_unique<SynchronizeSends>();
}

}  // namespace torc::passes
