// Rooted collectives along binomial trees: the fewest rounds, for short messages, and the baseline
// of papers and MPI libraries.
#ifndef TORC_COMPILER_ALGORITHMS_BINOMIAL_BINOMIAL_H_
#define TORC_COMPILER_ALGORITHMS_BINOMIAL_BINOMIAL_H_

#include <llvm/Support/Error.h>

#include "compiler/spec/collective_spec.h"
#include "compiler/spec/program_size.h"
#include "ir/program.h"

namespace torc::compiler {

/// The steps of a broadcast, reduce, scatter or gather along the binomial trees of one axis after
/// another, for any root. Errors of all here: an axis is a line, or something is dead.
llvm::Expected<ir::Program> lowerBinomial(const CollectiveSpec& spec);
/// Of a scatter or a gather, in a color for each link of the root.
llvm::Expected<ir::Program> lowerRotatedBinomial(const CollectiveSpec& spec);
/// Of a broadcast or a reduce, along Bine trees (ring_tree.h).
llvm::Expected<ir::Program> lowerBine(const CollectiveSpec& spec);

/// The same along flat trees: the root of a line is the parent of all of it.
llvm::Expected<ir::Program> lowerFlat(const CollectiveSpec& spec);

/// Of any of them, the one of rotated orders in as many colors as the root has links.
ProgramSize estimateBinomial(const CollectiveSpec& spec);
ProgramSize estimateRotatedBinomial(const CollectiveSpec& spec);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_BINOMIAL_BINOMIAL_H_
