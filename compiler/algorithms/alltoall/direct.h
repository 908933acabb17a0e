// Direct all-to-all: every node sends every other node its block, in a random order per node, so
// that nodes do not go through their peers in step ("Optimization of All-to-All Communication on
// the Blue Gene/L Supercomputer", section 3: AR, randomised order). Variants for nodes with cores
// exchange between nodes only between equal cores ("Scaling Alltoall Collective on Multi-core
// Systems", section 5).
#ifndef TORC_COMPILER_ALGORITHMS_ALLTOALL_DIRECT_H_
#define TORC_COMPILER_ALGORITHMS_ALLTOALL_DIRECT_H_

#include <llvm/Support/Error.h>

#include "compiler/spec/collective_spec.h"
#include "compiler/spec/program_size.h"
#include "ir/program.h"

namespace torc::compiler {

/// The plan of one exchange. It becomes three operations for each half of the blocks, for any
/// number of nodes. Errors: a damaged torus.
llvm::Expected<ir::Program> lowerDirectAlltoall(const CollectiveSpec& spec);

/// Send-side aggregation: the cores of a node exchange first, so that each core has all data for
/// the equal cores of other nodes; then equal cores exchange. Errors: a damaged torus.
llvm::Expected<ir::Program> lowerAggregatedAlltoall(const CollectiveSpec& spec);
/// Receive-side distribution: the opposite order.
llvm::Expected<ir::Program> lowerDistributedAlltoall(const CollectiveSpec& spec);
/// Leader based: the first core of a node collects the data of its cores, exchanges it with the
/// first cores of other nodes, and distributes the result. Errors: a damaged torus.
llvm::Expected<ir::Program> lowerLeaderAlltoall(const CollectiveSpec& spec);

/// Estimate for any exchanges: one operation sends a message to every node.
ProgramSize estimateExchanges(const CollectiveSpec& spec);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_ALLTOALL_DIRECT_H_
