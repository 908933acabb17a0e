// Breadth-first broadcast (BFB) as steps: allgather, reduce-scatter and allreduce over shortest
// paths.
#ifndef TORC_COMPILER_ALGORITHMS_BFB_BFB_H_
#define TORC_COMPILER_ALGORITHMS_BFB_BFB_H_

#include <llvm/Support/Error.h>

#include "compiler/spec/collective_spec.h"
#include "compiler/spec/program_size.h"
#include "ir/program.h"

namespace torc::compiler {

/// The largest number of parts of a block with an affordable proof on this topology.
std::uint32_t mostBfbParts(const Topology& topology);

/// Estimates the size of the steps from the shape alone, slightly too high.
ProgramSize estimateBfb(const CollectiveSpec& spec);

/// The steps of an allgather by breadth-first broadcast; of a reduce-scatter, its time reversal; or
/// of an allreduce, both in sequence. Errors: those of bfbRoutes
/// (compiler/algorithms/bfb/bfb_routes.h).
llvm::Expected<ir::Program> lowerBfb(const CollectiveSpec& spec);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_BFB_BFB_H_
