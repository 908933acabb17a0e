// Broadcast and reduce along arc-disjoint spanning trees on tori with lines.
#ifndef TORC_COMPILER_ALGORITHMS_TREES_PRODUCT_TREES_H_
#define TORC_COMPILER_ALGORITHMS_TREES_PRODUCT_TREES_H_

#include <llvm/Support/Error.h>

#include "compiler/algorithms/trees/tree_pipeline.h"
#include "compiler/spec/collective_spec.h"
#include "compiler/spec/program_size.h"
#include "ir/program.h"

namespace torc::compiler {

/// Whether there are such trees: some axis of more than one node is no ring, none is of cores, and
/// what is dead, if anything, are links at one coordinate of their axis.
bool suitsProductTrees(const Topology& topology);

/// The steps of a broadcast or of a reduce, for any root. Errors: the topology does not suit.
llvm::Expected<ir::Program> lowerProductTrees(const CollectiveSpec& spec);

/// Its pipeline. A tree goes round the rings, and out on the lines, once; one on whose rings the
/// root's child is a turn, at most twice.
TreePipeline productTreesPipeline(const Topology& topology);

ProgramSize estimateProductTrees(const CollectiveSpec& spec);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_TREES_PRODUCT_TREES_H_
