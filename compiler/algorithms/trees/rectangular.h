// rectangular: broadcast and reduction along 2N arc-disjoint spanning trees.
#ifndef TORC_COMPILER_ALGORITHMS_TREES_RECTANGULAR_H_
#define TORC_COMPILER_ALGORITHMS_TREES_RECTANGULAR_H_

#include <llvm/Support/Error.h>

#include "compiler/spec/collective_spec.h"
#include "compiler/spec/program_size.h"
#include "ir/program.h"

namespace torc::compiler {

/// Whether the trees exist: all axes are rings, or have one node.
bool suitsRectangular(const Topology& topology);

/// The steps for one segment, of a broadcast or a reduce. The error names what the trees cannot
/// span.
llvm::Expected<ir::Program> lowerRectangular(const CollectiveSpec& spec);

ProgramSize estimateRectangular(const CollectiveSpec& spec);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_TREES_RECTANGULAR_H_
