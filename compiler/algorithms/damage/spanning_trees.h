// Allreduce around arbitrary damage, as dead nodes, or dead links at different coordinates of an
// axis. Edge-disjoint spanning trees (tree_packing.h) have equal shares of the vector
// (tree_allreduce.h). k trees without a common cable load every link with 1/k of the vector. Every
// schedule moves at least 2(p-1) shares over E live cables in two directions, (p-1)/E each; the
// trees reach this bound if they use every cable.
#ifndef TORC_COMPILER_ALGORITHMS_DAMAGE_SPANNING_TREES_H_
#define TORC_COMPILER_ALGORITHMS_DAMAGE_SPANNING_TREES_H_

#include <llvm/Support/Error.h>

#include "compiler/algorithms/trees/tree_pipeline.h"
#include "compiler/spec/collective_spec.h"
#include "compiler/spec/program_size.h"
#include "ir/program.h"

namespace torc::compiler {

/// Largest number of nodes for programs with operations of single nodes; more make them too large.
inline constexpr std::uint64_t kMaxTreeNodes = 512;
/// An error, for the `trees` of that name, if there are more than kMaxTreeNodes live nodes; else
/// success.
llvm::Error checkTreeNodes(const Topology& topology, llvm::StringRef trees);

/// The steps of an allreduce for one segment. An error if there are more than kMaxTreeNodes live
/// nodes.
llvm::Expected<ir::Program> lowerSpanningTrees(const CollectiveSpec& spec);

/// Pipeline of these trees, with an assumed depth of twice the distance to the farthest node. Each
/// of E live cables carries (p-1)/E of the vector, up and down on separate links.
TreePipeline spanningTreesPipeline(const Topology& topology);

/// Estimate for programs with operations of single nodes, some for each of its links.
ProgramSize estimateTreesByNode(const CollectiveSpec& spec);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_DAMAGE_SPANNING_TREES_H_
