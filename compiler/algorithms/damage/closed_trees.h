// The closed trees: spanning trees round what is dead on a torus of rings, by a rule that is the
// same for every size. Take the 2N arc-disjoint rectangular trees (rectangular.h), color (i, s), of
// the whole torus, from a center C. C has one child in each, C + s e_i. Where C is a dead node and
// is left out, 2N trees of the live nodes remain, rooted there, which use each arc between live
// nodes exactly once. An allreduce that gives each tree 1/(2N) of the vector, reduces it up the
// tree and broadcasts it down again, loads every arc with 2/(2N) = 1/N of the vector. With p nodes,
// C counted, (p-2) / (Np - 2N) = 1/N is what nobody can do without (Nash-Williams): the trees meet
// the bound exactly. Where no node is dead C is an end of a dead link: it is one node more, a leaf
// of each tree, and its cables are in one tree each, where others are in two.
//
// Whatever else is dead cuts trees into pieces. A tree has no direction in an allreduce: a piece is
// joined to the rest by any live cable between them. The share of such a tree is divided among q
// trees that are joined by different cables, those that carry least, and of these where the tree
// becomes least deep. So a cable carries 1/(2q) more than the others, and the trees differ near the
// damage alone.
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

/// Whether the trees exist: something is dead, and all axes are rings, or have one node.
bool suitsClosedTrees(const Topology& topology);

/// Spanning trees of the live nodes of a topology that suits, `graph` being its graph, of more than
/// one node.
std::vector<WeightedTree> closedTrees(const Topology& topology, const LiveGraph& graph);

/// The steps of an allreduce for one segment. An error where the topology does not suit.
llvm::Expected<ir::Program> lowerClosedTrees(const CollectiveSpec& spec);

/// The closed trees, up to their middles and down again: 1/N of the vector on a link, half of it on
/// the way up and half down. Links are shared by both when the pipeline is full; the first segment
/// meets no other, so that each of its hops takes half as long, and the hops of one way count:
/// sum(d_i - 1) + 1, half of the shortest axis less.
TreePipeline closedTreesPipeline(const Topology& topology);

/// Of trees that are alike but round what is dead.
ProgramSize estimateClosedTrees(const CollectiveSpec& spec);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_DAMAGE_CLOSED_TREES_H_
