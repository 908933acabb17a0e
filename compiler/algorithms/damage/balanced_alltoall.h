// alltoall around any damage: every block takes the route that balanced_routes.h chose for it, from
// neighbour to neighbour. In step t a link carries the t-th hop of all routes over it, in a message
// for the blocks that end there and one for those that go on; these lie in one of two frames, that
// of the steps with an odd or with an even number.
#ifndef TORC_COMPILER_ALGORITHMS_DAMAGE_BALANCED_ALLTOALL_H_
#define TORC_COMPILER_ALGORITHMS_DAMAGE_BALANCED_ALLTOALL_H_

#include <llvm/Support/Error.h>

#include "compiler/algorithms/trees/tree_pipeline.h"
#include "compiler/spec/collective_spec.h"
#include "ir/program.h"

namespace torc::compiler {

/// Hops of all blocks together beyond which a list of them is too large to be of use: on three axes
/// as long as each other up to some 400 nodes have as many, on a ring 140.
inline constexpr std::uint64_t kMaxRouteHops = 1'000'000;
/// Those up to which the program is made within some seconds, and has a megabyte: 8x8 has as many.
inline constexpr std::uint64_t kFewRouteHops = 20'000;
/// Whether shortest ways between all live nodes have more than `most`.
bool hasMoreRouteHops(const Topology& topology, std::uint64_t most);
/// That there are more than kMaxRouteHops; else success.
llvm::Error checkRouteHops(const Topology& topology);

/// The steps of an alltoall. An error where there are more than kMaxRouteHops.
llvm::Expected<ir::Program> lowerBalancedAlltoall(const CollectiveSpec& spec);

/// Its pipeline. The steps of a segment take up to half as long again as a link is busy with it,
/// and a link has two messages to start in each of them.
TreePipeline balancedAlltoallPipeline(const Topology& topology);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_DAMAGE_BALANCED_ALLTOALL_H_
