// Allreduce, allgather and reduce_scatter by exchanges in groups of nodes that grow, or shrink: the
// fewest rounds, for short vectors.
#ifndef TORC_COMPILER_ALGORITHMS_RECURSIVE_RECURSIVE_EXCHANGE_H_
#define TORC_COMPILER_ALGORITHMS_RECURSIVE_RECURSIVE_EXCHANGE_H_

#include <llvm/Support/Error.h>

#include "compiler/spec/collective_spec.h"
#include "compiler/spec/program_size.h"
#include "ir/program.h"

namespace torc::compiler {

/// One message to a node and round, where sizes are powers of two: recursive doubling, or halving.
llvm::Expected<ir::Program> lowerRecursiveDoubling(const CollectiveSpec& spec);
/// Up to seven, and fewer rounds: recursive multiplying.
llvm::Expected<ir::Program> lowerRecursiveMultiplying(const CollectiveSpec& spec);
// Errors of both: something is dead.

/// What is known of their programs before they are made.
ProgramSize estimateRecursiveDoubling(const CollectiveSpec& spec);
ProgramSize estimateRecursiveMultiplying(const CollectiveSpec& spec);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_RECURSIVE_RECURSIVE_EXCHANGE_H_
