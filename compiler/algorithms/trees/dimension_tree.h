// The dimension-order tree: one tree from or to the root, along one axis after another.
#ifndef TORC_COMPILER_ALGORITHMS_TREES_DIMENSION_TREE_H_
#define TORC_COMPILER_ALGORITHMS_TREES_DIMENSION_TREE_H_

#include <llvm/Support/Error.h>

#include "compiler/spec/collective_spec.h"
#include "compiler/spec/program_size.h"
#include "ir/program.h"

namespace torc::compiler {

/// The steps of a broadcast or a reduce in one color. An error on a damaged torus.
llvm::Expected<ir::Program> lowerDimensionTree(const CollectiveSpec& spec);

ProgramSize estimateDimensionTree(const CollectiveSpec& spec);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_TREES_DIMENSION_TREE_H_
