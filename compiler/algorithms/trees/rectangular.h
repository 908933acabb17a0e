// The algorithm `rectangular`: broadcast and reduction along 2N arc-disjoint spanning trees.
#ifndef TORC_COMPILER_ALGORITHMS_TREES_RECTANGULAR_H_
#define TORC_COMPILER_ALGORITHMS_TREES_RECTANGULAR_H_

#include <llvm/Support/Error.h>

#include "compiler/algorithms/trees/arc_boxes.h"
#include "compiler/spec/collective_spec.h"
#include "compiler/spec/program_size.h"
#include "ir/program.h"

namespace torc::compiler {

/// The arcs of the tree along the axes in `order`, each of more than one node, by `sign`. The tree
/// leads from the node at `origin` through all nodes of `all` that differ from it on these axes.
/// The line of the first axis is first, the wraps, which are leaves, are last.
Arcs rectangularArcs(const Topology& topology, llvm::ArrayRef<std::uint32_t> order, int sign,
                     const Coordinates& origin = {}, const Box& all = {});

/// Whether the trees exist: all axes are rings, or have one node.
bool suitsRectangular(const Topology& topology);

/// The steps for one segment, of a broadcast or a reduce. The error names the axis or damage that
/// the trees cannot span.
llvm::Expected<ir::Program> lowerRectangular(const CollectiveSpec& spec);

ProgramSize estimateRectangular(const CollectiveSpec& spec);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_TREES_RECTANGULAR_H_
