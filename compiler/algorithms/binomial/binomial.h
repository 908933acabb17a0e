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
/// another, for any root. Errors of all functions here: an axis is a line, or the torus is damaged.
llvm::Expected<ir::Program> lowerBinomial(const CollectiveSpec& spec);
/// A scatter or a gather, in one color for each link of the root.
llvm::Expected<ir::Program> lowerRotatedBinomial(const CollectiveSpec& spec);
/// A broadcast or a reduce, along Bine trees (ring_tree.h).
llvm::Expected<ir::Program> lowerBine(const CollectiveSpec& spec);

/// A broadcast or a reduce along flat trees: the root of a line is the parent of all its other
/// nodes.
llvm::Expected<ir::Program> lowerFlat(const CollectiveSpec& spec);

/// Estimate for all of them; rotated orders have as many colors as the root has links.
ProgramSize estimateBinomial(const CollectiveSpec& spec);
ProgramSize estimateRotatedBinomial(const CollectiveSpec& spec);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_BINOMIAL_BINOMIAL_H_
