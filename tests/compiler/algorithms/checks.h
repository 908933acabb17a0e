// Properties of every algorithm.
#ifndef TORC_TESTS_COMPILER_ALGORITHMS_CHECKS_H_
#define TORC_TESTS_COMPILER_ALGORITHMS_CHECKS_H_

#include <cstdint>

#include <llvm/ADT/StringRef.h>

#include "compiler/algorithms/damage/rooted_tree.h"
#include "compiler/compile.h"
#include "schedules/schedule.h"
#include "tests/schedules/sample_schedule.h"

namespace torc::compiler {

using samples::damaged;

/// The schedule that `algorithm` compiles, proved after every pass.
Schedule compiledBy(llvm::StringRef algorithm, Collective collective, const Topology& topology,
                    const PipelineOptions& options);
/// The same in `segments`.
Schedule compiledInSegments(llvm::StringRef algorithm, Collective collective,
                            const Topology& topology, std::uint32_t segments);

/// Expects a proof, of all nodes at a time, node by node and for one count, and the right result of
/// runs from every possible root, in place and not; of a scatter or a gather also with unequal
/// counts.
void expectProofAndRuns(const ScheduleView& schedule);

/// Expects that the messages of all ranks make `trees` spanning trees with a common root of all
/// messages. No two of them use one arc, and none leads to the root.
void expectArcDisjointTrees(const ScheduleView& schedule, std::int32_t root, std::uint64_t trees);

/// Runs an allreduce, a scan or an exscan on an operation that detects the order of ranks: each
/// rank must get the sum of all ranks, of those up to it, or of those before it, in order.
void expectRanksInOrder(const Schedule& schedule);

/// Whether the cables connect all nodes without a cycle.
bool isSpanningTree(const LiveGraph& graph, const TreeCables& cables);

}  // namespace torc::compiler

#endif  // TORC_TESTS_COMPILER_ALGORITHMS_CHECKS_H_
