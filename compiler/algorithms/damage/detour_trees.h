// Broadcast and reduce around any damage: the trees of the whole torus from the root
// (trees/product_tree_rule.h), rectangular ones where all axes are rings. Messages over dead links
// and nodes are dropped, and a node that lost its parent in a tree (an *orphan*) gets the tree's
// part from neighbours that have it.
//
// On N rings the 2N trees use every arc once. So a node beside a dead one is an orphan in one tree
// alone, and its other 2N - 1 links may share that part: with k of them, each carries 1/(2N) (1 +
// 1/k) of the data, with the lower bound 1/(2N - 1). Neighbours below the orphan in the tree have
// no data for it; there longer ways lead around. A reduce is the mirror image: orphans send their
// sums on the same ways.
//
// The root determines an orphan's tree. Detours have guards for boxes of roots.
#ifndef TORC_COMPILER_ALGORITHMS_DAMAGE_DETOUR_TREES_H_
#define TORC_COMPILER_ALGORITHMS_DAMAGE_DETOUR_TREES_H_

#include <llvm/Support/Error.h>

#include "compiler/algorithms/trees/tree_pipeline.h"
#include "compiler/spec/collective_spec.h"
#include "compiler/spec/program_size.h"
#include "ir/program.h"

namespace torc::compiler {

/// Largest number of roots on N axes by default, times N - 1: the proof examines each. A third
/// where an axis is a line.
inline constexpr std::uint64_t kMostDetourRoots = 3072;

/// The steps of a broadcast or reduce for one segment. An error if guards do not suit, or
/// damage cuts it in two.
llvm::Expected<ir::Program> lowerDetourTrees(const CollectiveSpec& spec);
TreePipeline detourTreesPipeline(const Topology& topology);
ProgramSize estimateDetourTrees(const CollectiveSpec& spec);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_DAMAGE_DETOUR_TREES_H_
