// All passes: as values, and by name.
#ifndef TORC_PASSES_REGISTRY_REGISTRY_H_
#define TORC_PASSES_REGISTRY_REGISTRY_H_

#include <memory>
#include <variant>
#include <vector>

#include <llvm/ADT/StringRef.h>

#include "passes/allocate_scratch.h"
#include "passes/assign_colors.h"
#include "passes/assign_permutations.h"
#include "passes/coalesce.h"
#include "passes/cores/assign_cores.h"
#include "passes/cores/lead_cores.h"
#include "passes/detours/detour_cuts.h"
#include "passes/expand_exchanges.h"
#include "passes/expand_rings.h"
#include "passes/expand_rounds.h"
#include "passes/infer_dependences.h"
#include "passes/loops/roll_loops.h"
#include "passes/loops/unroll_loops.h"
#include "passes/manager/pass.h"
#include "passes/order_links.h"
#include "passes/pipelining/pipeline.h"
#include "passes/pipelining/segment.h"
#include "passes/pipelining/stagger_chunks.h"
#include "passes/split_directions.h"
#include "passes/synchronize_sends.h"

namespace torc::passes {

/// A pass and its options, in the order in which a compilation runs them.
using PassSpec =
    std::variant<DetourCutsPass, AssignColorsPass, AssignPermutationsPass, SplitDirectionsPass,
                 ExpandRingsPass, ExpandRoundsPass, ExpandExchangesPass, CoalescePass,
                 LeadCoresPass, SynchronizeSendsPass, PipelinePass, StaggerChunksPass,
                 InferDependencesPass, OrderLinksPass, AllocateScratchPass, AssignCoresPass,
                 RollLoopsPass, UnrollLoopsPass, SegmentPass>;

std::unique_ptr<Pass> makePass(const PassSpec& spec);

/// A new pass by name with default options; null if there is none.
std::unique_ptr<Pass> createPass(llvm::StringRef name);

/// One of each with default options, in the order of PassSpec.
std::vector<std::unique_ptr<Pass>> createAllPasses();

}  // namespace torc::passes

#endif  // TORC_PASSES_REGISTRY_REGISTRY_H_
