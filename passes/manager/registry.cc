// The table of passes.
#include "passes/manager/registry.h"

#include "passes/allocate_scratch.h"
#include "passes/assign_colors.h"
#include "passes/assign_cores.h"
#include "passes/assign_permutations.h"
#include "passes/coalesce.h"
#include "passes/expand_rings.h"
#include "passes/infer_dependences.h"
#include "passes/manager/pipeline.h"
#include "passes/order_links.h"
#include "passes/split_directions.h"

namespace torc {

std::vector<std::unique_ptr<Pass>> createAllPasses() {
  std::vector<std::unique_ptr<Pass>> passes;
  passes.push_back(createAssignColorsPass());
  passes.push_back(createAssignPermutationsPass());
  passes.push_back(createSplitDirectionsPass());
  passes.push_back(createExpandRingsPass());
  passes.push_back(createCoalescePass());
  passes.push_back(createPipelinePass());
  passes.push_back(createInferDependencesPass());
  passes.push_back(createOrderLinksPass());
  passes.push_back(createAllocateScratchPass());
  passes.push_back(createAssignCoresPass());
  return passes;
}

std::unique_ptr<Pass> createPass(llvm::StringRef name) {
  for (std::unique_ptr<Pass>& pass : createAllPasses()) {
    if (pass->name() == name) return std::move(pass);
  }
  return nullptr;
}

}  // namespace torc
