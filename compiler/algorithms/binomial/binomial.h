// Broadcast and reduce along binomial trees: the fewest rounds, for short messages, and the
// baseline of papers and MPI libraries.
#ifndef TORC_COMPILER_ALGORITHMS_BINOMIAL_BINOMIAL_H_
#define TORC_COMPILER_ALGORITHMS_BINOMIAL_BINOMIAL_H_

#include <llvm/Support/Error.h>

#include "compiler/collective_spec.h"
#include "ir/program.h"

namespace torc {

/// The steps along the binomial trees of one axis after another, or along the Bine trees
/// (ring_tree.h), for any root. Errors: an axis is a line, or something is dead.
llvm::Expected<Program> planBinomial(const CollectiveSpec& spec);
llvm::Expected<Program> planBine(const CollectiveSpec& spec);

}  // namespace torc

#endif  // TORC_COMPILER_ALGORITHMS_BINOMIAL_BINOMIAL_H_
