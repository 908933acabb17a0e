// Allreduce by exchanges of the whole vector in groups that grow: the fewest rounds, for short
// vectors.
#ifndef TORC_COMPILER_ALGORITHMS_RECURSIVE_RECURSIVE_EXCHANGE_H_
#define TORC_COMPILER_ALGORITHMS_RECURSIVE_RECURSIVE_EXCHANGE_H_

#include <llvm/Support/Error.h>

#include "compiler/collective_spec.h"
#include "ir/program.h"

namespace torc {

/// One message to a node and round (recursive doubling), where sizes are powers of two.
llvm::Expected<Program> planRecursiveDoubling(const CollectiveSpec& spec);
/// Up to seven, and fewer rounds (recursive multiplying).
llvm::Expected<Program> planRecursiveMultiplying(const CollectiveSpec& spec);
// Errors of both: something is dead.

}  // namespace torc

#endif  // TORC_COMPILER_ALGORITHMS_RECURSIVE_RECURSIVE_EXCHANGE_H_
