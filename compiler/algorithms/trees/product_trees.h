// Broadcast and reduce along arc-disjoint spanning trees on tori with lines.
#ifndef TORC_COMPILER_ALGORITHMS_TREES_PRODUCT_TREES_H_
#define TORC_COMPILER_ALGORITHMS_TREES_PRODUCT_TREES_H_

#include <llvm/Support/Error.h>

#include "compiler/algorithms/trees/tree_pipeline.h"
#include "compiler/spec/collective_spec.h"
#include "compiler/spec/program_size.h"
#include "ir/program.h"

namespace torc::compiler {

/// Whether there are such trees: some axis of more than one node is no ring, no axis has cores, and
/// any damage is dead links at one coordinate of their axis.
bool suitsProductTrees(const Topology& topology);

/// The steps of a broadcast or of a reduce, for any root. Errors: the topology does not suit.
llvm::Expected<ir::Program> lowerProductTrees(const CollectiveSpec& spec);

/// Pipeline of these trees. A tree goes once round the rings and once out on the lines; if the
/// root's child on the rings is a turn, at most twice.
TreePipeline productTreesPipeline(const Topology& topology);

ProgramSize estimateProductTrees(const CollectiveSpec& spec);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_TREES_PRODUCT_TREES_H_
