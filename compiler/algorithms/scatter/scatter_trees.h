// Scatter and gather on all links of the root.
#ifndef TORC_COMPILER_ALGORITHMS_SCATTER_SCATTER_TREES_H_
#define TORC_COMPILER_ALGORITHMS_SCATTER_SCATTER_TREES_H_

#include <llvm/Support/Error.h>

#include "compiler/algorithms/trees/tree_pipeline.h"
#include "compiler/spec/collective_spec.h"
#include "compiler/spec/program_size.h"
#include "ir/program.h"

namespace torc::compiler {

/// The steps of a scatter or a gather, two colors for each axis. Errors: a damaged torus, or an
/// axis that does not wrap.
llvm::Expected<ir::Program> lowerScatterTrees(const CollectiveSpec& spec);

ProgramSize estimateScatterTrees(const CollectiveSpec& spec);

/// The segments of the trees: the share of the root's links, and the messages of a segment on the
/// link with most of them.
TreePipeline scatterTreesPipeline(const Topology& topology);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_SCATTER_SCATTER_TREES_H_
