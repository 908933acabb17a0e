// Direct all-to-all: every node sends every other its block, in an order that is drawn for each, so
// that no two nodes go through their peers in step ("Optimization of All-to-All Communication on
// the Blue Gene/L Supercomputer", section 3: AR, randomised order).
#ifndef TORC_COMPILER_ALGORITHMS_ALLTOALL_DIRECT_H_
#define TORC_COMPILER_ALGORITHMS_ALLTOALL_DIRECT_H_

#include <llvm/Support/Error.h>

#include "compiler/collective_spec.h"
#include "ir/program.h"

namespace torc {

/// The plan of one exchange, which becomes three operations for each half of the blocks, however
/// many nodes there are. Errors: a damaged torus.
llvm::Expected<Program> planDirectAlltoall(const CollectiveSpec& spec);

}  // namespace torc

#endif  // TORC_COMPILER_ALGORITHMS_ALLTOALL_DIRECT_H_
