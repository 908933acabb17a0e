#include "passes/detours/detour_cuts.h"

namespace torc::passes {
namespace {

class DetourCuts final : public Pass {
 public:
  DetourCuts()
      : Pass("detour-cuts", "leads rings round dead links that cut them, which else are lines",
             PassLevel::kPlan) {}

  llvm::Expected<PassResult> run(ir::Program& program) override {
    Topology& topology = program.schedule.topology;
    const Topology before = topology;
    topology.addDetours();
    return changed(topology != before);
  }
};

}  // namespace

std::unique_ptr<Pass> makePass(const DetourCutsPass&) {
  return std::make_unique<DetourCuts>();
}

}  // namespace torc::passes
