// Scatter and gather along flat trees, on tori and meshes.
#ifndef TORC_COMPILER_ALGORITHMS_SCATTER_FLAT_BLOCKS_H_
#define TORC_COMPILER_ALGORITHMS_SCATTER_FLAT_BLOCKS_H_

#include <llvm/Support/Error.h>

#include "compiler/algorithms/trees/tree_pipeline.h"
#include "compiler/spec/collective_spec.h"
#include "compiler/spec/program_size.h"
#include "ir/program.h"

namespace torc::compiler {

/// The steps of a scatter or a gather: in one color, the shortest axis first; in a color for each
/// axis of the network, beginning with that axis. An error on a damaged torus.
llvm::Expected<ir::Program> lowerFlatBlocks(const CollectiveSpec& spec);
llvm::Expected<ir::Program> lowerRotatedFlatBlocks(const CollectiveSpec& spec);

/// Whether a proof of both, over all coordinates of the root on lines, takes some ten seconds at
/// most.
bool suitsFlatBlocks(const Topology& topology);
ProgramSize estimateFlatBlocks(const CollectiveSpec& spec);
ProgramSize estimateRotatedFlatBlocks(const CollectiveSpec& spec);

/// The segments of all colors: a level for each axis, the share of the root's links with the root
/// in a corner, and the messages of a segment.
TreePipeline rotatedFlatBlocksPipeline(const Topology& topology);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_SCATTER_FLAT_BLOCKS_H_
