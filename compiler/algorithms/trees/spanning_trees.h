// Collectives around arbitrary damage, for nodes that are no longer alike: dead nodes, dead links
// at different coordinates of an axis. Every operation is one node's.
//
// allreduce. Edge-disjoint spanning trees (tree_packing.h); each has a share of the vector, which
// is reduced to the root of its tree and broadcast back. A tree's cables carry its share once in
// each direction, so k trees that share no cable load every link with 1/k of the vector, in all. No
// schedule can do with less than 2(p-1) shares on E live cables in two directions, (p-1)/E each,
// which the trees reach where they use every cable.
//
// allgather. A breadth-first tree per source: every block takes a shortest way to every node. Of
// the neighbours that are one hop nearer to the source each node takes the block from the one whose
// link to it has the least to carry, and moves earlier choices where that helps (a matching, node
// by node), so that the blocks are spread evenly over its links: (p-1)/p n/deg at best, which is
// the bound. Blocks that come over one link at one distance go together. The steps are as many as
// the longest shortest way, no more.
//
// reduce_scatter. The same trees, each towards its source: the allgather reversed in time.
#ifndef TORC_COMPILER_ALGORITHMS_TREES_SPANNING_TREES_H_
#define TORC_COMPILER_ALGORITHMS_TREES_SPANNING_TREES_H_

#include <llvm/Support/Error.h>

#include "compiler/collective_spec.h"
#include "ir/program.h"

namespace torc {

/// Nodes beyond which programs of single nodes are too large to be of use.
inline constexpr std::uint64_t kMaxTreeNodes = 512;

/// The steps of the collective. An error where there are more than kMaxTreeNodes live nodes.
llvm::Expected<Program> planSpanningTrees(const CollectiveSpec& spec);

}  // namespace torc

#endif  // TORC_COMPILER_ALGORITHMS_TREES_SPANNING_TREES_H_
