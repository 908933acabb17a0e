// Direct all-to-all: every node sends every other its block, in an order that is drawn for each, so
// that no two nodes go through their peers in step ("Optimization of All-to-All Communication on
// the Blue Gene/L Supercomputer", section 3: AR, randomised order). And the same among nodes alone,
// for nodes with cores, of which each speaks to its like only ("Scaling Alltoall Collective on
// Multi-core Systems", section 5).
#ifndef TORC_COMPILER_ALGORITHMS_ALLTOALL_DIRECT_H_
#define TORC_COMPILER_ALGORITHMS_ALLTOALL_DIRECT_H_

#include <llvm/Support/Error.h>

#include "compiler/spec/collective_spec.h"
#include "compiler/spec/program_size.h"
#include "ir/program.h"

namespace torc::compiler {

/// The plan of one exchange, which becomes three operations for each half of the blocks, however
/// many nodes there are. Errors: a damaged torus.
llvm::Expected<ir::Program> lowerDirectAlltoall(const CollectiveSpec& spec);

/// Send-side aggregation: the cores of a node exchange first, so that each has what goes to its
/// like on every node; then these exchange. Errors: a damaged torus.
llvm::Expected<ir::Program> lowerAggregatedAlltoall(const CollectiveSpec& spec);
/// Receive-side distribution: the other order.
llvm::Expected<ir::Program> lowerDistributedAlltoall(const CollectiveSpec& spec);
/// Leader based: the first core of a node has all that its cores send, and exchanges it with those
/// of the other nodes; then it gives each core what it gets. Errors: a damaged torus.
llvm::Expected<ir::Program> lowerLeaderAlltoall(const CollectiveSpec& spec);

/// Of any exchanges: a message to every node is one operation.
ProgramSize estimateExchanges(const CollectiveSpec& spec);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_ALLTOALL_DIRECT_H_
