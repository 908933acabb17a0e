// Alltoall around any damage: every block takes its route from balanced_routes.h, from neighbour to
// neighbour. In step t a link carries the t-th hop of all routes over it: one message for blocks
// that end there and one for blocks that continue. The latter lie in one of two frames, for odd and
// even steps.
#ifndef TORC_COMPILER_ALGORITHMS_DAMAGE_BALANCED_ALLTOALL_H_
#define TORC_COMPILER_ALGORITHMS_DAMAGE_BALANCED_ALLTOALL_H_

#include <llvm/Support/Error.h>

#include "compiler/algorithms/trees/tree_pipeline.h"
#include "compiler/spec/collective_spec.h"
#include "ir/program.h"

namespace torc::compiler {

/// Largest number of hops of all blocks together: longer lists are too large to be useful. Up to
/// some 400 nodes on three axes of equal length, or 140 nodes on a ring, are within this limit.
inline constexpr std::uint64_t kMaxRouteHops = 1'000'000;
/// Largest number of hops for a program of about a megabyte, made within seconds, as on 8x8.
inline constexpr std::uint64_t kFewRouteHops = 20'000;
/// Whether shortest paths between all pairs of live nodes have more than `most` hops together.
bool hasMoreRouteHops(const Topology& topology, std::uint64_t most);
/// An error if there are more than kMaxRouteHops; else success.
llvm::Error checkRouteHops(const Topology& topology);

/// The steps of an alltoall. An error if there are more than kMaxRouteHops.
llvm::Expected<ir::Program> lowerBalancedAlltoall(const CollectiveSpec& spec);

/// Pipeline of these steps. A segment takes up to half as long again as a link is busy with it, and
/// a link starts two messages per step.
TreePipeline balancedAlltoallPipeline(const Topology& topology);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_DAMAGE_BALANCED_ALLTOALL_H_
