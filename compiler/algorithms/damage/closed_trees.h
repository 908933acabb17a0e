// The closed trees: spanning trees around damage on a torus of rings, by the same rule for every
// size. Take the 2N arc-disjoint rectangular trees (rectangular.h), color (i, s), of the whole
// torus, from a center C. C has one child in each, C + s e_i. If C is a dead node and is left out,
// 2N trees of the live nodes remain, rooted there, which use each arc between live nodes exactly
// once. An allreduce gives each tree 1/(2N) of the vector, reduces it up the tree and broadcasts it
// down again. This loads every arc with 2/(2N) = 1/N of the vector. With p nodes, C counted, the
// lower bound is (p-2) / (Np - 2N) = 1/N (Nash-Williams): the trees meet it exactly. If no node is
// dead, C is an end of a dead link. Then C is an additional node, a leaf of each tree, and its
// cables are in one tree each, the others in two.
//
// Further damage cuts trees into pieces. A tree has no direction in an allreduce: any live cable
// can join a piece to the rest. The share of such a tree is divided among q trees with different
// joining cables: the least loaded ones, and of these the ones that make the tree least deep. So a
// cable carries 1/(2q) more than the others, and the trees differ only near the damage.
#ifndef TORC_COMPILER_ALGORITHMS_DAMAGE_CLOSED_TREES_H_
#define TORC_COMPILER_ALGORITHMS_DAMAGE_CLOSED_TREES_H_

#include <vector>

#include <llvm/Support/Error.h>

#include "compiler/algorithms/damage/tree_allreduce.h"
#include "compiler/algorithms/trees/tree_pipeline.h"
#include "compiler/spec/collective_spec.h"
#include "compiler/spec/program_size.h"
#include "ir/program.h"

namespace torc::compiler {

/// Whether the trees exist: the torus is damaged, and all axes are rings, or have one node.
bool suitsClosedTrees(const Topology& topology);

/// Spanning trees of the live nodes of a suitable topology with `graph` and more than one node.
std::vector<WeightedTree> closedTrees(const Topology& topology, const LiveGraph& graph);

/// The steps of an allreduce for one segment. An error if the topology does not suit.
llvm::Expected<ir::Program> lowerClosedTrees(const CollectiveSpec& spec);

/// Pipeline of the closed trees, up to their middles and down again: 1/N of the vector on a link,
/// half of it up and half down. Both share links when the pipeline is full. The first segment meets
/// no other, so that each of its hops takes half as long, and only the hops of one direction count:
/// sum(d_i - 1) + 1, less half of the shortest axis.
TreePipeline closedTreesPipeline(const Topology& topology);

/// Estimate for trees that are alike except around damage.
ProgramSize estimateClosedTrees(const CollectiveSpec& spec);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_DAMAGE_CLOSED_TREES_H_
