// Allreduce, allgather and reduce_scatter by exchanges in growing or shrinking groups of nodes: the
// fewest rounds, for short vectors.
#ifndef TORC_COMPILER_ALGORITHMS_RECURSIVE_RECURSIVE_EXCHANGE_H_
#define TORC_COMPILER_ALGORITHMS_RECURSIVE_RECURSIVE_EXCHANGE_H_

#include <llvm/Support/Error.h>

#include "compiler/spec/collective_spec.h"
#include "compiler/spec/program_size.h"
#include "ir/program.h"

namespace torc::compiler {

/// One message per node and round, if sizes are powers of two: recursive doubling, or halving.
llvm::Expected<ir::Program> lowerRecursiveDoubling(const CollectiveSpec& spec);
/// Up to seven messages, and fewer rounds: recursive multiplying.
llvm::Expected<ir::Program> lowerRecursiveMultiplying(const CollectiveSpec& spec);
// Errors of both: a damaged torus.

/// Estimates of their programs from the shape alone.
ProgramSize estimateRecursiveDoubling(const CollectiveSpec& spec);
ProgramSize estimateRecursiveMultiplying(const CollectiveSpec& spec);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_RECURSIVE_RECURSIVE_EXCHANGE_H_
