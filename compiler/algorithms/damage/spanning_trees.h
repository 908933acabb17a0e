// allreduce around arbitrary damage, for nodes that are no longer alike: dead nodes, dead links at
// different coordinates of an axis. Edge-disjoint spanning trees (tree_packing.h) have equal shares
// of the vector (tree_allreduce.h). k trees that share no cable load every link with 1/k of the
// vector, in all. No schedule can do with less than 2(p-1) shares on E live cables in two
// directions, (p-1)/E each, which the trees reach where they use every cable.
#ifndef TORC_COMPILER_ALGORITHMS_DAMAGE_SPANNING_TREES_H_
#define TORC_COMPILER_ALGORITHMS_DAMAGE_SPANNING_TREES_H_

#include <llvm/Support/Error.h>

#include "compiler/algorithms/trees/tree_pipeline.h"
#include "compiler/spec/collective_spec.h"
#include "compiler/spec/program_size.h"
#include "ir/program.h"

namespace torc::compiler {

/// Nodes beyond which programs of single nodes are too large to be of use.
inline constexpr std::uint64_t kMaxTreeNodes = 512;
/// That there are more than kMaxTreeNodes live nodes, for the `trees` of that name; else success.
llvm::Error checkTreeNodes(const Topology& topology, llvm::StringRef trees);

/// The steps of an allreduce for one segment. An error where there are more than kMaxTreeNodes live
/// nodes.
llvm::Expected<ir::Program> lowerSpanningTrees(const CollectiveSpec& spec);

/// Its pipeline: the trees are taken to be twice as deep as the way to the farthest node;
/// (p-1)/E of the vector on each of E live cables, up and down on links of their own.
TreePipeline spanningTreesPipeline(const Topology& topology);

/// Of programs of single nodes, some operations of each for each of its links.
ProgramSize estimateTreesByNode(const CollectiveSpec& spec);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_DAMAGE_SPANNING_TREES_H_
