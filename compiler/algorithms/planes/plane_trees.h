// Broadcast and reduce on a torus with one dead node: trees on the complete planes, and from these
// into the plane of the dead node (dead_plane.h).
#ifndef TORC_COMPILER_ALGORITHMS_PLANES_PLANE_TREES_H_
#define TORC_COMPILER_ALGORITHMS_PLANES_PLANE_TREES_H_

#include <llvm/Support/Error.h>

#include "compiler/algorithms/trees/tree_pipeline.h"
#include "compiler/spec/collective_spec.h"
#include "compiler/spec/program_size.h"
#include "ir/program.h"

namespace torc::compiler {

/// Whether the only damage is one dead node, and all axes are rings of nodes without cores.
bool suitsPlaneTrees(const Topology& topology);

llvm::Expected<ir::Program> lowerPlaneTrees(const CollectiveSpec& spec);
ProgramSize estimatePlaneTrees(const CollectiveSpec& spec);
TreePipeline planeTreesPipeline(const Topology& topology);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_PLANES_PLANE_TREES_H_
