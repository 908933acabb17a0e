// Scatter and gather round damage, for any root. Few nodes beside the damage, the *hubs*, have a
// part of every block each. A hub's tree leads on to all nodes, in absolute coordinates: only the
// ways between the root and the hubs depend on the root.
//
// Let C be a dead node or, without one, an end of a dead link, the farthest from rank 0, the usual
// root. The hubs are its 2N neighbours on a torus of N rings. The rectangular trees from the root
// (rectangular.h) are arc-disjoint, so their paths to C come there from 2N different neighbours.
// Such a path, without its last hop, is the way to that hub: each link of the root carries 1/(2N)
// of the data, the bound. Other damage on a way replaces it by a cheapest way on links that other
// ways leave free, if there are such.
//
// A hub's tree has shortest paths, with the last hops along the axis of the hub and C. So its links
// with large loads lead away from C, beside the axes through C, where ways seldom go.
#ifndef TORC_COMPILER_ALGORITHMS_DAMAGE_HUB_TREES_H_
#define TORC_COMPILER_ALGORITHMS_DAMAGE_HUB_TREES_H_

#include <llvm/Support/Error.h>

#include "compiler/algorithms/trees/tree_pipeline.h"
#include "compiler/spec/collective_spec.h"
#include "compiler/spec/program_size.h"
#include "ir/program.h"

namespace torc::compiler {

/// The steps of a scatter or a gather, for one segment. An error if nothing is dead, nodes have
/// cores, or an axis is no ring.
llvm::Expected<ir::Program> lowerHubTrees(const CollectiveSpec& spec);

ProgramSize estimateHubTrees(const CollectiveSpec& spec);

/// A way to a hub and the longest path from there; a part's share of the root's links.
TreePipeline hubTreesPipeline(const Topology& topology);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_DAMAGE_HUB_TREES_H_
